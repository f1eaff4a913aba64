package dev.onlyonce.sql.entries;

import dev.onlyonce.sql.connections.SqlDatabase;
import dev.onlyonce.sql.connections.Transaction;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * MySQL 8 and MariaDB 10.6 and newer, in what both understand. Neither tells which rows a statement over many has changed,
 * so in the same transaction the rows are read back: whose token stands there has the entry.
 *
 * <p>In a statement, the part between {@code each} and the comment that ends it is there once for every row of the batch;
 * that comment is what comes between them. {@code STRAIGHT_JOIN} makes the batch drive the look-ups, whatever the
 * statistics say.
 */
public final class MySql implements Database {
    static final Columns COLUMNS = Columns.BYTES;

    /** Bounds a statement, lock waits included. */
    private static final int STATEMENT_TIMEOUT_SECONDS = 5;
    /** One row's lock keeps a whole batch waiting. Drivers take whole seconds. */
    private static final Wait BRIEFLY = new Wait(false, 1);

    private static final Wait NOT = new Wait(true, 1);
    /** For what has nobody else waiting with it. */
    static final Wait WAIT = new Wait(false, STATEMENT_TIMEOUT_SECONDS);
    /** Results of more bytes go in several statements: the server's default for the largest one is 16 MiB or more. */
    private static final int STATEMENT_BYTES_MAX = 4 << 20;

    private static final List<String> BEGIN = List.of("START TRANSACTION");

    /** Scans that lock rows must not lock the gaps between them: that would hold up new claims. */
    public static final List<String> BEGIN_SCAN =
            List.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION");

    /** Shows what others have not committed yet. Nothing is decided by it but not to wait. */
    private static final List<String> BEGIN_LOOK =
            List.of("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "START TRANSACTION READ ONLY");

    private final String clock;
    private final StatementTexts texts;

    /** With another clock than the server's: for tests only. */
    public MySql(Optional<String> clock) {
        this.clock = clock.orElse(MySqlStatements.CLOCK);
        this.texts = new StatementTexts(MySqlStatements.CLOCK, this.clock, statement -> statement);
    }

    @Override
    public SqlDatabase kind() {
        return SqlDatabase.MYSQL;
    }

    @Override
    public Written write(Connection connection, List<Settlement> settlements, List<ClaimRequest> claims)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> written(c, settlements, claims, BRIEFLY));
    }

    @Override
    public Map<EntryId, SettleResult.Settled> settleUnlocked(Connection connection, List<Settlement> settlements)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> written(c, settlements, List.of(), NOT))
                .settled();
    }

    @Override
    public Inserted insert(Connection connection, List<ClaimRequest> claims) throws SQLException {
        Set<EntryId> seen =
                seen(connection, claims.stream().map(ClaimRequest::id).toList());
        List<ClaimRequest> open =
                claims.stream().filter(c -> !seen.contains(c.id())).toList();
        return new Inserted(
                open.isEmpty() ? Map.of() : write(connection, List.of(), open).claimed(), seen);
    }

    /** Those entries that are there or that somebody is just making. */
    Set<EntryId> seen(Connection connection, List<EntryId> ids) throws SQLException {
        Set<EntryId> seen = new HashSet<>();
        List<Binding> rows =
                ids.stream().map(id -> RowParameters.of(COLUMNS, id)).toList();
        return Transaction.run(connection, BEGIN_LOOK, c -> {
            query(c, MySqlStatements.SEEN, rows, row -> seen.add(id(row)));
            return seen;
        });
    }

    /**
     * What to do about rows that somebody else has locked.
     *
     * @param skips whether reads that lock go around them; an insert cannot
     * @param seconds bounds a statement that may wait
     */
    record Wait(boolean skips, int seconds) {
        private String in(String sql) {
            return skips ? sql : sql.replace(MySqlStatements.SKIP, "");
        }
    }

    /** As {@link #write}, in a transaction that is open. */
    Written written(Connection c, List<Settlement> settlements, List<ClaimRequest> claims, Wait wait)
            throws SQLException {
        Set<EntryId> fresh = settlements.isEmpty() ? Set.of() : settle(c, settlements, wait);
        if (!claims.isEmpty()) {
            List<Binding> rows =
                    claims.stream().map(a -> RowParameters.of(COLUMNS, a)).toList();
            change(c, MySqlStatements.INSERT, rows, rows.size(), wait.seconds);
        }
        List<EntryId> ids = new ArrayList<>();
        settlements.forEach(s -> ids.add(s.id()));
        claims.forEach(a -> ids.add(a.id()));
        Map<EntryId, Standing> standing = standing(c, ids);
        List<AuditRow> audit = new ArrayList<>();
        for (Settlement settlement : settlements) {
            Standing now = standing.get(settlement.id());
            if (now != null && fresh.contains(settlement.id())) {
                audit.add(AuditRow.settled(now.subject, settlement, now.settled.settledAt()));
            }
        }
        audit(c, audit);
        return new Written(settled(settlements, standing, fresh), claimed(claims, standing));
    }

    /** Returns those settled now, not by an earlier try. */
    private Set<EntryId> settle(Connection connection, List<Settlement> settlements, Wait wait) throws SQLException {
        List<Binding> rows = settlements.stream()
                .map(s -> RowParameters.owner(COLUMNS, s.id(), s.token()))
                .toList();
        Set<EntryId> held = ids(connection, MySqlStatements.LOCK_HELD, rows, wait);
        List<Settlement> fresh =
                settlements.stream().filter(s -> held.contains(s.id())).toList();
        for (List<Settlement> part : fresh.isEmpty() ? List.<List<Settlement>>of() : parts(fresh)) {
            settlePart(connection, part);
        }
        return held;
    }

    private int settlePart(Connection connection, List<Settlement> settlements) throws SQLException {
        List<Binding> parameters = new ArrayList<>();
        settlements.forEach(s -> parameters.add(RowParameters.tokenAndName(s)));
        settlements.forEach(s -> parameters.add(RowParameters.result(s.result())));
        long state = settlements.get(0).to().code();
        parameters.add(Binding.longs(state, state, state, state, state));
        settlements.forEach(s -> parameters.add(RowParameters.owner(COLUMNS, s.id(), s.token())));
        return change(connection, MySqlStatements.SETTLE, parameters, settlements.size(), STATEMENT_TIMEOUT_SECONDS);
    }

    /** One statement for each state; and results may be large: cuts the batch into statements that the server takes. */
    private static List<List<Settlement>> parts(List<Settlement> settlements) {
        List<List<Settlement>> parts = new ArrayList<>();
        for (State state :
                EnumSet.copyOf(settlements.stream().map(Settlement::to).toList())) {
            addParts(parts, settlements.stream().filter(s -> s.to() == state).toList());
        }
        return parts;
    }

    private static void addParts(List<List<Settlement>> parts, List<Settlement> settlements) {
        List<Settlement> part = new ArrayList<>();
        long bytes = 0;
        for (Settlement settlement : settlements) {
            byte[] result = settlement.result();
            int length = result == null ? 0 : result.length;
            if (!part.isEmpty() && bytes + length > STATEMENT_BYTES_MAX) {
                parts.add(part);
                part = new ArrayList<>();
                bytes = 0;
            }
            part.add(settlement);
            bytes += length;
        }
        if (!part.isEmpty()) {
            parts.add(part);
        }
    }

    private static Map<EntryId, SettleResult.Settled> settled(
            List<Settlement> settlements, Map<EntryId, Standing> standing, Set<EntryId> fresh) {
        Map<EntryId, SettleResult.Settled> settled = new HashMap<>();
        for (Settlement settlement : settlements) {
            Standing now = standing.get(settlement.id());
            // What was settled now counts even with no retention; a repeated settlement only while it is kept.
            boolean counts = fresh.contains(settlement.id()) || (now != null && !now.gone);
            if (now != null && now.is(settlement.token(), settlement.to()) && counts) {
                settled.put(settlement.id(), now.settled);
            }
        }
        return settled;
    }

    private static Map<EntryId, Integer> claimed(List<ClaimRequest> claims, Map<EntryId, Standing> standing) {
        Map<EntryId, Integer> claimed = new HashMap<>();
        for (ClaimRequest claim : claims) {
            Standing now = standing.get(claim.id());
            if (now != null && now.is(claim.token(), claim.start())) {
                claimed.put(claim.id(), now.subject.attempt());
            }
        }
        return claimed;
    }

    /** What stands there, without what is large. */
    private record Standing(
            AuditRow.Subject subject, @Nullable UUID token, SettleResult.Settled settled, boolean gone) {
        boolean is(UUID token, State state) {
            return token.equals(this.token) && state == subject.state();
        }
    }

    private Map<EntryId, Standing> standing(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Standing> standing = new HashMap<>();
        List<Binding> rows =
                ids.stream().map(id -> RowParameters.of(COLUMNS, id)).toList();
        query(
                connection,
                MySqlStatements.STANDING,
                rows,
                row -> standing.put(
                        id(row),
                        new Standing(
                                AuditRow.Subject.read(row, 1, COLUMNS),
                                COLUMNS.token(row, 9),
                                StoredEntry.settled(row, 10),
                                row.getBoolean(12))));
        return standing;
    }

    @Override
    public Map<EntryId, Entry> find(Connection connection, List<EntryId> ids) throws SQLException {
        Map<EntryId, Entry> found = new HashMap<>();
        List<Binding> rows =
                ids.stream().map(id -> RowParameters.of(COLUMNS, id)).toList();
        query(connection, MySqlStatements.FIND, rows, row -> {
            Entry entry = StoredEntry.read(row, COLUMNS);
            found.put(entry.id(), entry);
        });
        return found;
    }

    @Override
    public Map<EntryId, Integer> keep(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            List<Binding> rows = claims.stream()
                    .map(a -> RowParameters.owner(COLUMNS, a.id(), a.token()))
                    .toList();
            Set<EntryId> own = ids(c, MySqlStatements.LOCK_OWN, rows, NOT);
            List<ClaimRequest> open =
                    claims.stream().filter(a -> own.contains(a.id())).toList();
            return open.isEmpty() ? Map.of() : claim(c, MySqlStatements.INSERT, open);
        });
    }

    @Override
    public Map<EntryId, Integer> take(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> taken(c, claims, NOT));
    }

    /** As {@link #take}, in a transaction that is open. */
    Map<EntryId, Integer> taken(Connection c, List<ClaimRequest> claims, Wait wait) throws SQLException {
        return claim(c, wait.in(MySqlStatements.LOCK_FREE), MySqlStatements.TAKE, claims, AuditRow::taken);
    }

    @Override
    public Map<EntryId, Integer> replace(Connection connection, List<ClaimRequest> claims) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> replaced(c, claims, NOT));
    }

    /** As {@link #replace}, in a transaction that is open. */
    Map<EntryId, Integer> replaced(Connection c, List<ClaimRequest> claims, Wait wait) throws SQLException {
        return claim(c, wait.in(MySqlStatements.LOCK_GONE), MySqlStatements.REPLACE, claims, AuditRow::replaced);
    }

    @FunctionalInterface
    private interface Audited {
        AuditRow row(AuditRow.Subject before, ClaimRequest claim, long now);
    }

    /** Changes what it has locked, and tells the audit what had stood there. */
    private Map<EntryId, Integer> claim(
            Connection c, String lock, String sql, List<ClaimRequest> claims, Audited audited) throws SQLException {
        Map<EntryId, Before> locked = new HashMap<>();
        List<Binding> ids =
                claims.stream().map(a -> RowParameters.of(COLUMNS, a.id())).toList();
        query(c, lock, ids, row -> locked.put(id(row), Before.read(row)));
        List<ClaimRequest> open =
                claims.stream().filter(a -> locked.containsKey(a.id())).toList();
        if (open.isEmpty()) {
            return Map.of();
        }
        Map<EntryId, Integer> claimed = claim(c, sql, open);
        List<AuditRow> audit = new ArrayList<>();
        for (ClaimRequest claim : open) {
            Before before = locked.get(claim.id());
            if (before != null && claimed.containsKey(claim.id())) {
                audit.add(audited.row(before.subject, claim, before.now));
            }
        }
        audit(c, audit);
        return claimed;
    }

    private Map<EntryId, Integer> claim(Connection c, String sql, List<ClaimRequest> claims) throws SQLException {
        change(c, sql, claims.stream().map(a -> RowParameters.of(COLUMNS, a)).toList());
        return claimed(claims, standing(c, claims.stream().map(ClaimRequest::id).toList()));
    }

    /** An entry that is locked and about to change. */
    private record Before(AuditRow.Subject subject, long now) {
        static Before read(ResultSet row) throws SQLException {
            return new Before(AuditRow.Subject.read(row, 1, COLUMNS), row.getLong(9));
        }
    }

    private void audit(Connection connection, List<AuditRow> rows) throws SQLException {
        change(
                connection,
                AuditRow.INSERT,
                rows.stream().map(r -> RowParameters.of(COLUMNS, r)).toList());
    }

    @Override
    public Set<EntryId> renew(Connection connection, List<Renewal> renewals) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            List<Binding> rows = renewals.stream()
                    .map(r -> RowParameters.owner(COLUMNS, r.id(), r.token()))
                    .toList();
            Set<EntryId> held = ids(c, MySqlStatements.LOCK_HELD, rows, NOT);
            change(
                    c,
                    MySqlStatements.RENEW,
                    renewals.stream()
                            .filter(r -> held.contains(r.id()))
                            .map(r -> RowParameters.of(COLUMNS, r))
                            .toList());
            return held;
        });
    }

    @Override
    public Chunk chunk(Connection connection, long after, int rows) throws SQLException {
        List<Chunk> chunks = new ArrayList<>();
        query(
                connection,
                MySqlStatements.CHUNK,
                List.of(Binding.longs(after, rows)),
                row -> chunks.add(StoredEntry.chunk(row)));
        return chunks.get(0);
    }

    @Override
    public List<Lapsed> lapsed(Connection connection, long after, long upTo, int limit) throws SQLException {
        List<Lapsed> lapsed = new ArrayList<>();
        List<Binding> parameters = List.of(Binding.longs(after, upTo, limit));
        query(connection, MySqlStatements.LAPSED, parameters, row -> lapsed.add(StoredEntry.lapsed(row, COLUMNS)));
        return lapsed;
    }

    @Override
    public Set<EntryId> end(Connection connection, List<Lapsed> lapsed) throws SQLException {
        return Transaction.run(connection, BEGIN_SCAN, c -> {
            Map<EntryId, Before> locked = new HashMap<>();
            List<Binding> rows =
                    lapsed.stream().map(l -> RowParameters.of(COLUMNS, l)).toList();
            query(c, MySqlStatements.LOCK_LAPSED, rows, row -> locked.put(id(row), Before.read(row)));
            List<Binding> ended = new ArrayList<>();
            List<AuditRow> audit = new ArrayList<>();
            for (Lapsed entry : lapsed) {
                Before before = locked.get(entry.id());
                if (before != null) {
                    ended.add(RowParameters.of(COLUMNS, entry));
                    audit.add(AuditRow.swept(before.subject, entry, before.now));
                }
            }
            change(c, MySqlStatements.END, ended);
            audit(c, audit);
            return locked.keySet();
        });
    }

    @Override
    public Reaped reap(Connection connection, int limit) throws SQLException {
        return Transaction.run(connection, BEGIN_SCAN, c -> {
            List<Binding> gone = new ArrayList<>();
            List<Binding> expired = new ArrayList<>();
            List<Binding> early = new ArrayList<>();
            query(c, MySqlStatements.DUE, List.of(Binding.longs(limit)), row -> {
                List<Binding> fate = row.getBoolean(4) ? gone : row.getBoolean(5) ? expired : early;
                fate.add(RowParameters.of(COLUMNS, id(row)));
            });
            change(c, MySqlStatements.DELETE, gone);
            change(c, MySqlStatements.TOMBSTONE, expired);
            change(c, MySqlStatements.PUT_OFF, early);
            return new Reaped(gone.size() + expired.size() + early.size(), gone.size() + expired.size());
        });
    }

    @Override
    public Map<EntryId, SettleResult.Settled> resolve(Connection connection, List<Resolution> resolutions)
            throws SQLException {
        return Transaction.run(connection, BEGIN, c -> resolved(c, resolutions));
    }

    /** As {@link #resolve}, in a transaction that is open. */
    Map<EntryId, SettleResult.Settled> resolved(Connection c, List<Resolution> resolutions) throws SQLException {
        List<Resolution> changed = new ArrayList<>();
        for (Resolution resolution : resolutions) {
            if (change(c, MySqlStatements.RESOLVE, List.of(RowParameters.of(COLUMNS, resolution))) > 0) {
                changed.add(resolution);
            }
        }
        Map<EntryId, SettleResult.Settled> resolved = new HashMap<>();
        List<AuditRow> audit = new ArrayList<>();
        List<EntryId> ids = changed.stream().map(Resolution::id).toList();
        Map<EntryId, Standing> standing = ids.isEmpty() ? Map.of() : standing(c, ids);
        for (Resolution resolution : changed) {
            Standing now = standing.get(resolution.id());
            if (now != null) {
                resolved.put(resolution.id(), now.settled);
                audit.add(AuditRow.resolved(now.subject, resolution, now.settled.settledAt()));
            }
        }
        audit(c, audit);
        return resolved;
    }

    @Override
    public Optional<Entry> evict(Connection connection, EntryId id, String who, String why) throws SQLException {
        return Transaction.run(connection, BEGIN, c -> {
            List<Entry> evicted = new ArrayList<>();
            List<Binding> row = List.of(RowParameters.of(COLUMNS, id));
            query(c, MySqlStatements.LOCK_ONE, row, found -> evicted.add(StoredEntry.read(found, COLUMNS)));
            if (!evicted.isEmpty()) {
                change(c, MySqlStatements.DELETE, row);
                audit(c, List.of(AuditRow.evicted(evicted.get(0), who, why)));
            }
            return evicted.stream().findFirst();
        });
    }

    @Override
    public List<Entry> list(Connection connection, EntryQuery query) throws SQLException {
        List<Entry> entries = new ArrayList<>();
        EntryListing listing = new EntryListing(query, COLUMNS);
        query(connection, listing.sql(), List.of(listing), row -> entries.add(StoredEntry.read(row, COLUMNS)));
        return entries;
    }

    @Override
    public String sql(String statement) {
        return texts.of(statement);
    }

    @Override
    public String clock() {
        return clock;
    }

    @Override
    public InTransaction inTransaction() {
        return new MySqlInTransaction(this);
    }

    private static EntryId id(ResultSet row) throws SQLException {
        return StoredEntry.id(row, 1, COLUMNS);
    }

    @FunctionalInterface
    interface RowReader {
        void accept(ResultSet row) throws SQLException;
    }

    private Set<EntryId> ids(Connection connection, String sql, List<Binding> rows, Wait wait) throws SQLException {
        Set<EntryId> ids = new HashSet<>();
        query(connection, wait.in(sql), rows, wait.seconds, row -> ids.add(id(row)));
        return ids;
    }

    void query(Connection connection, String sql, List<Binding> rows, RowReader reader) throws SQLException {
        query(connection, sql, rows, STATEMENT_TIMEOUT_SECONDS, reader);
    }

    private void query(Connection connection, String sql, List<Binding> rows, int seconds, RowReader reader)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, rows, rows.size(), seconds);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                reader.accept(row);
            }
        }
    }

    int change(Connection connection, String sql, List<Binding> rows) throws SQLException {
        return rows.isEmpty() ? 0 : change(connection, sql, rows, rows.size(), STATEMENT_TIMEOUT_SECONDS);
    }

    private int change(Connection connection, String sql, List<Binding> parameters, int rows, int seconds)
            throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters, rows, seconds)) {
            return statement.executeUpdate();
        }
    }

    private PreparedStatement prepare(
            Connection connection, String sql, List<Binding> parameters, int rows, int seconds) throws SQLException {
        PreparedStatement statement = connection.prepareStatement(EachRow.repeat(sql(sql), rows));
        try {
            statement.setQueryTimeout(seconds);
            int next = 1;
            for (Binding binding : parameters) {
                next = binding.bind(statement, next);
            }
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }
}
