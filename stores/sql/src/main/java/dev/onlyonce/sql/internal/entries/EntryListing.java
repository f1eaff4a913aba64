package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.UnreadableEntries;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The operators' listing, without results. Its conditions vary with the query, so it is put together; all databases understand it. */
public final class EntryListing implements Binding {
    /** Somebody has damaged more than can be looked past. */
    private static final int ROUNDS_MAX = 10;

    private final StringBuilder sql;
    private final List<Binding> bindings = new ArrayList<>();
    private final Columns columns;

    /** A row; null parts could not be read. */
    private record Row(@Nullable EntryId id, @Nullable Entry entry) {}

    /**
     * Lists entries in the order of their ids. Those that cannot be read are left out, and others take their places: up to a bound, past
     * which there are fewer.
     */
    public static List<Entry> of(
            Connection connection, SqlDialect database, EntryQuery query, UnreadableEntries unreadable)
            throws SQLException {
        Columns columns = Columns.of(database.kind());
        List<Entry> entries = new ArrayList<>();
        EntryQuery rest = query;
        for (int round = 0; round < ROUNDS_MAX; round++) {
            EntryListing listing = new EntryListing(rest, columns);
            List<Row> rows = database.query(connection, listing.sql(), listing, row -> read(row, columns, unreadable));
            EntryId last = null;
            for (Row row : rows) {
                last = row.id == null ? last : row.id;
                if (row.entry != null) {
                    entries.add(row.entry);
                }
            }
            if (rows.size() < rest.limit() || entries.size() == query.limit() || last == null) {
                break;
            }
            rest = new EntryQuery(
                    query.tenant(),
                    query.operation(),
                    query.state(),
                    query.olderThan(),
                    last,
                    query.limit() - entries.size());
        }
        return entries;
    }

    private static Row read(ResultSet row, Columns columns, UnreadableEntries unreadable) throws SQLException {
        EntryId id = null;
        try {
            id = StoredEntry.id(row, 1, columns);
            return new Row(id, StoredEntry.read(row, columns));
        } catch (IllegalArgumentException e) {
            unreadable.report(id == null ? "an entry without a usable id" : id, e);
            return new Row(id, null);
        }
    }

    /** Prepares the query. */
    EntryListing(EntryQuery query, Columns columns) {
        this.columns = columns;
        sql = new StringBuilder("""
            SELECT tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
                   attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until,
                   settled_at, expires_at, NULL AS result, {now}
            FROM onlyonce_entry
            WHERE (purge_at IS NULL OR purge_at > {now})\
            """);
        String tenant = query.tenant();
        if (tenant != null) {
            and("tenant = ?", text(tenant));
        }
        String operation = query.operation();
        if (operation != null) {
            and("operation = ?", text(operation));
        }
        State state = query.state();
        if (state != null) {
            state(state);
        }
        if (query.olderThan() != null) {
            long age = StoredEntry.micros(query.olderThan());
            and("created_at <= {now} - ?", Binding.longs(age));
        }
        if (tenant == null) {
            // Not the row that the database is recognised by, which has no tenant.
            and("fingerprint_version > 0");
        }
        EntryId after = query.after();
        if (after != null) {
            // The first condition is for MySQL, which finds no range in the second.
            and("tenant >= ?", text(after.tenant()));
            and("(tenant, space, key_) > (?, ?, ?)", text(after.tenant(), after.scope(), after.key()));
        }
        sql.append("\nORDER BY tenant, space, key_ LIMIT ?");
        bindings.add(Binding.longs(query.limit()));
    }

    private void state(State state) {
        switch (state) {
            case EXPIRED -> and("(state = 7 OR state IN (3, 4) AND expires_at <= {now})");
            case COMPLETED, FAILED -> and("state = ? AND expires_at > {now}", Binding.longs(state.code()));
            // The index of unknown entries has this condition.
            case UNKNOWN -> and("state = ? AND unknown_since IS NOT NULL", Binding.longs(state.code()));
            case PENDING, PROCESSING, RETRYABLE -> and("state = ?", Binding.longs(state.code()));
        }
    }

    private void and(String condition, Binding... parameters) {
        sql.append("\n  AND ").append(condition);
        bindings.addAll(List.of(parameters));
    }

    private Binding text(String... texts) {
        return Binding.texts(columns, texts);
    }

    /** The statement; {@link SqlDialect#sql} puts the clock in. */
    String sql() {
        return sql.toString();
    }

    @Override
    public int bind(PreparedStatement statement, int first) throws SQLException {
        int next = first;
        for (Binding binding : bindings) {
            next = binding.bind(statement, next);
        }
        return next;
    }
}
