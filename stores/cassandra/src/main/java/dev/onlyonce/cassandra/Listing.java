package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.UnreadableEntries;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lists entries in the order of their ids: merges the ids of all shards, looks at the heads of these entries, and reads those that are
 * asked for.
 */
final class Listing {
    /** Looked at together: enough that a filter with few hits is quick. */
    private static final int CHUNK = 500;
    /** Results are read in small groups, since each may have megabytes. */
    private static final int WHOLE = 16;

    private final Link link;
    private final Statements statements;
    private final int shards;
    private final LongSupplier clock;
    private final UnreadableEntries unreadable = new UnreadableEntries();
    private final PreparedStatement ids;
    private final PreparedStatement idsOfTenant;

    Listing(Link link, Statements statements, int shards, LongSupplier clock) {
        this.link = link;
        this.statements = statements;
        this.shards = shards;
        this.clock = clock;
        CqlSession session = link.session();
        String select = "SELECT tenant, scope, key FROM listed WHERE kind = :kind AND shard = :shard AND ";
        ids = session.prepare(select + "(tenant, scope, key) > (:tenant, :scope, :key) LIMIT :most");
        idsOfTenant = session.prepare(select + "tenant = :tenant AND (scope, key) > (:scope, :key) LIMIT :most");
    }

    /** Reads entries in the order of the ids; empty where there is none, or it is past everything. */
    List<Optional<Entry>> find(List<EntryId> wanted) {
        List<List<Row>> rows = rows(statements.find, wanted);
        long now = clock.getAsLong();
        List<Optional<Entry>> found = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            found.add(read(wanted.get(i), rows.get(i), now));
        }
        return found;
    }

    /** Those of the entries that are there; one that cannot be read is reported and left out. */
    private List<Entry> findReadable(PreparedStatement statement, List<EntryId> wanted) {
        List<List<Row>> rows = rows(statement, wanted);
        long now = clock.getAsLong();
        List<Entry> found = new ArrayList<>();
        for (int i = 0; i < rows.size(); i++) {
            EntryId id = wanted.get(i);
            List<Row> its = rows.get(i);
            unreadable
                    .read(id, () -> read(id, its, now))
                    .flatMap(entry -> entry)
                    .ifPresent(found::add);
        }
        return found;
    }

    private List<List<Row>> rows(PreparedStatement statement, List<EntryId> wanted) {
        return link.rows(
                wanted.stream().map(id -> Statements.read(statement, id)).toList());
    }

    private static Optional<Entry> read(EntryId id, List<Row> rows, long now) {
        StoredEntry entry = rows.isEmpty() ? null : StoredEntry.of(id, rows.get(0));
        return entry == null ? Optional.empty() : entry.visible(now);
    }

    List<Entry> list(EntryQuery query) {
        List<Entry> page = new ArrayList<>();
        EntryId after = query.after();
        List<EntryId> chunk;
        do {
            chunk = ids(query, after);
            List<EntryId> matching = findReadable(statements.findHead, chunk).stream()
                    .filter(entry -> matches(query, entry))
                    .map(Entry::id)
                    .limit(query.limit() - page.size())
                    .toList();
            for (int i = 0; i < matching.size(); i += WHOLE) {
                findReadable(statements.find, matching.subList(i, Math.min(i + WHOLE, matching.size()))).stream()
                        .filter(entry -> matches(query, entry))
                        .forEach(page::add);
            }
            after = chunk.isEmpty() ? after : chunk.get(chunk.size() - 1);
        } while (!chunk.isEmpty() && page.size() < query.limit());
        return page;
    }

    private static boolean matches(EntryQuery query, Entry entry) {
        return (query.operation() == null || query.operation().equals(entry.operation()))
                && (query.state() == null || query.state() == entry.state())
                && (query.olderThan() == null
                        || !entry.createdAt().plus(query.olderThan()).isAfter(entry.readAt()));
    }

    /** The next ids in their order, of all shards together; empty if there are no more. */
    private List<EntryId> ids(EntryQuery query, @Nullable EntryId after) {
        IndexRow.List list = query.state() == State.UNKNOWN ? IndexRow.List.UNKNOWN : IndexRow.List.ALL;
        return rows(list, query.tenant(), after, CHUNK).stream()
                .flatMap(rows -> rows.stream().map(Listing::id))
                .distinct()
                .sorted()
                .limit(CHUNK)
                .toList();
    }

    private List<List<Row>> rows(IndexRow.List list, @Nullable String tenant, @Nullable EntryId after, int most) {
        EntryId start = tenant == null ? new EntryId("", "", "") : new EntryId(tenant, "", "");
        EntryId from = after == null || after.compareTo(start) < 0 ? start : after;
        if (tenant != null && !from.tenant().equals(tenant)) {
            return List.of();
        }
        List<BoundStatement> statements = IntStream.range(0, shards)
                .mapToObj(shard -> {
                    BoundStatementBuilder bound = Statements.on(tenant == null ? ids : idsOfTenant, from);
                    return bound.setByte("kind", (byte) list.code())
                            .setShort("shard", (short) shard)
                            .setInt("most", most)
                            .setIdempotence(true)
                            .build();
                })
                .toList();
        return link.rows(statements);
    }

    /** How many ids a tenant has, or all of them. */
    int count(@Nullable String tenant, int max) {
        Set<EntryId> counted = new HashSet<>();
        for (List<Row> rows : rows(IndexRow.List.ALL, tenant, null, max)) {
            rows.forEach(row -> counted.add(id(row)));
        }
        return Math.min(counted.size(), max);
    }

    private static EntryId id(Row row) {
        return new EntryId(
                Objects.requireNonNull(row.getString("tenant")),
                Objects.requireNonNull(row.getString("scope")),
                Objects.requireNonNull(row.getString("key")));
    }
}
