package dev.onlyonce.sql.internal.entries;

import static java.util.Objects.requireNonNullElse;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.EntryId;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * A page of the audit: rows, and ordinary settlements that have none. Its conditions vary with the query, so it is put together.
 * One statement reads both, so that a settlement that gets its row meanwhile is seen once.
 */
final class AuditListing implements Binding {
    /** An ordinary settlement happens no earlier than that before the end of its lease: the statements that settle have it too. */
    static final Duration LEASE_MAX = Duration.ofMinutes(5);

    private final AuditQuery query;
    private final Columns columns;
    private final SqlDatabase kind;
    private final long from;
    private final StringBuilder sql = new StringBuilder();
    private final List<Binding> bindings = new ArrayList<>();

    /** Prepares the query. */
    AuditListing(AuditQuery query, SqlDatabase kind) {
        this.query = query;
        this.columns = Columns.of(kind);
        this.kind = kind;
        Instant since = requireNonNullElse(query.from(), Instant.EPOCH);
        AuditRecord after = query.after();
        this.from = StoredEntry.micros(after == null || after.at().isBefore(since) ? since : after.at());
    }

    /** No record is older. */
    long from() {
        return from;
    }

    /**
     * Completes the statement, for records whose lease ended before {@code leaseEnd}.
     *
     * @return whether all records of any span are among them; if not, there is no statement
     */
    boolean upTo(OptionalLong leaseEnd) {
        long end = leaseEnd.orElse(Long.MAX_VALUE);
        long until = leaseEnd.isPresent() ? end - StoredEntry.micros(LEASE_MAX) : end;
        if (until <= from) {
            return false;
        }
        rows(until);
        settlements(until, end);
        return true;
    }

    private void rows(long until) {
        add("SELECT * FROM (\n" + AuditTable.COLUMNS + "WHERE a.at >= ? AND a.at < ?", Binding.longs(from, until));
        AuditRecord after = query.after();
        if (after != null) {
            long number = after.number() < 0 ? -1 - after.number() : after.number();
            add(" AND (a.at, a.id) > (?, ?)", Binding.longs(StoredEntry.micros(after.at()), number));
        }
        tenant(" AND a.tenant = ?");
        add("\nORDER BY a.at, a.id LIMIT ?) AS recorded\nUNION ALL\n", Binding.longs(query.limit()));
    }

    private void settlements(long until, long leaseEnd) {
        add(AuditTable.SETTLEMENT + """
                FROM (
                    SELECT e.tenant, e.space, e.key_, e.operation, e.created_at, e.owner, e.attempt, e.state, e.settled_at,
                           e.settled_why
                    FROM onlyonce_entry AS e%s
                    WHERE e.lease_until >= ? AND e.lease_until < ? AND e.settled_at >= ? AND e.settled_at < ?
                      AND e.settled_why IS NOT NULL AND e.state IN (3, 4)""".formatted(hint()), Binding.longs(from, leaseEnd, from, until));
        tenant(" AND e.tenant = ?");
        AuditRecord after = query.after();
        if (after != null && after.number() < 0) {
            EntryId id = after.transition().id();
            add(
                    "\n      AND (e.settled_at, e.tenant, e.space, e.key_) > (?, ?, ?, ?)",
                    Binding.longs(StoredEntry.micros(after.at())).then(RowParameters.of(columns, id)));
        }
        add("\n    ORDER BY e.settled_at, e.tenant, e.space, e.key_ LIMIT ?) AS e", Binding.longs(query.limit()));
    }

    /** PostgreSQL finds the index by itself. */
    private String hint() {
        return switch (kind) {
            case POSTGRESQL -> "";
            case MYSQL -> " FORCE INDEX (onlyonce_entry_lease)";
            case SQLITE -> " INDEXED BY onlyonce_entry_lease";
            case H2 -> " USE INDEX (onlyonce_entry_lease)";
        };
    }

    private void tenant(String condition) {
        String tenant = query.tenant();
        if (tenant != null) {
            add(condition, Binding.texts(columns, tenant));
        }
    }

    private void add(String text, Binding parameters) {
        sql.append(text);
        bindings.add(parameters);
    }

    /** The statement; {@link SqlDialect#sql} puts the schema in. */
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
