package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.IdleBound;
import dev.onlyonce.sql.internal.connections.Standby;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A conflict is no error here, and leaves no lock on the entry. A lock time-out is one: the caller has set a savepoint,
 * and going back to it restores the settings too.
 */
final class PostgresInTransaction implements InTransaction {
    static final String SAVE_WAIT = "SELECT set_config('onlyonce.lock_timeout', current_setting('lock_timeout'), true)";

    /**
     * Bounds the time that the rest of the transaction may be idle: whoever stops inside of it must not hold the entry for longer than a claim
     * may be held. And makes the commit last.
     */
    private static final String HOLD = IdleBound.of("?::text") + ",\n" + Standby.SYNCHRONOUS;

    /** Of many entries. */
    private static final String SET_WAIT = "SELECT set_config('lock_timeout', ?::text, true),\n" + HOLD;

    /**
     * Of one entry: the longer bound on waits, unless another transaction has announced the same one. PostgreSQL does not say for which lock the
     * time was over, and writers of other keys lock the table for a moment too, while they or a vacuum change its size: that must not look
     * like a request with this key. See {@link PostgresStatements#INSERT_WITHIN}.
     */
    private static final String ANNOUNCE = """
            SELECT set_config('lock_timeout',
                       CASE WHEN pg_try_advisory_xact_lock(?::bigint) THEN ?::text ELSE ?::text END, true),
            """ + HOLD;

    static final String RESTORE_WAIT =
            "SELECT set_config('lock_timeout', current_setting('onlyonce.lock_timeout'), true)";

    /**
     * For an entry with a row in the outbox: bounds the wait for that table. The lock is that of the insert to come. Whoever does not wait
     * for another request waits for this: a vacuum locks the table for a moment, and that is no duplicate.
     */
    private static final List<Postgres.Part> REACH_OUTBOX = List.of(
            new Postgres.Part(PostgresStatements.WAIT, Binding.NONE, row -> {}),
            new Postgres.Part("LOCK TABLE onlyonce_outbox IN ROW EXCLUSIVE MODE", Binding.NONE, row -> {}));

    /** For another request with the same key. */
    private static final long WAIT_MIN_MILLIS = 20;
    /** For everything else: as an operator would. */
    private static final long WAIT_ANNOUNCED_MILLIS = 2_000;

    /** As {@link PostgresStatements#SETTLE} has it. */
    private static final Duration OWN_RECORD_LEASE_MAX = Duration.ofMinutes(5);

    /**
     * How many advisory locks there are for all entries. A transaction keeps those of all its keys, and the server's table of locks has room
     * for some thousands: when it is full, statements of everybody fail.
     */
    private static final int ANNOUNCEMENTS = 1_024;

    /** Numbers that nobody else uses begin here: "onlykeys" in ASCII, but for the last bits. */
    private static final long ANNOUNCEMENTS_FROM = 0x6f6e6c796b657973L & -ANNOUNCEMENTS;

    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final Postgres postgres;
    private final RunTimeBound runTime = new RunTimeBound();

    PostgresInTransaction(Postgres postgres) {
        this.postgres = postgres;
    }

    /** Fresh keys take one statement. After it, those that are taken are looked up, and one that is just being made is waited for. */
    @Override
    public Optional<Integer> insert(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        List<Postgres.Part> parts = new ArrayList<>();
        List<Integer> attempts = new ArrayList<>();
        if (claim.start() == State.PROCESSING) {
            Optional<Integer> made = insertWithin(connection, claim, bounds);
            if (made.isPresent() || find(connection, claim.id()).isPresent()) {
                return made;
            }
        }
        parts.add(Postgres.insert(List.of(claim), row -> attempts.add(row.getInt(4))));
        if (claim.start() == State.PENDING) {
            parts.addAll(REACH_OUTBOX);
        }
        waiting(connection, announce(claim.id(), bounds), parts);
        return attempts.stream().findFirst();
    }

    /** Its time is bounded from outside: it locks the table before a bound of its own could be set. */
    private Optional<Integer> insertWithin(Connection connection, ClaimRequest claim, Bounds bounds)
            throws SQLException {
        Binding binding = RowParameters.of(Columns.NATIVE, claim)
                .then(Binding.longs(
                        StoredEntry.micros(claim.terms().lease()),
                        StoredEntry.micros(claim.terms().retention()),
                        announcement(claim.id())))
                .then(Binding.texts(Columns.NATIVE, hold(bounds), hold(bounds)));
        try (PreparedStatement statement =
                connection.prepareStatement(postgres.sql(PostgresStatements.INSERT_WITHIN))) {
            binding.bind(statement, 1);
            runTime.execute(statement, longer(bounds.waitMax(), Duration.ofMillis(WAIT_ANNOUNCED_MILLIS)));
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? Optional.of(row.getInt(1)) : Optional.empty();
            }
        }
    }

    /** The number of an entry's advisory lock: the same on every node. Others may have it too. */
    private static long announcement(EntryId id) {
        long hash = FNV_OFFSET;
        for (String part : List.of(id.tenant(), id.scope(), id.key())) {
            for (int i = 0; i < part.length(); i++) {
                hash = (hash ^ part.charAt(i)) * FNV_PRIME;
            }
            hash *= FNV_PRIME;
        }
        return ANNOUNCEMENTS_FROM + Math.floorMod(hash ^ (hash >>> 32), ANNOUNCEMENTS);
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    @Override
    public Map<EntryId, Integer> insertAll(Connection connection, List<ClaimRequest> claims, Bounds bounds)
            throws SQLException {
        Map<EntryId, Integer> attempts = new HashMap<>();
        Postgres.RowEffect each = row -> attempts.put(StoredEntry.id(row, 1, Columns.NATIVE), row.getInt(4));
        waiting(connection, setWait(bounds), List.of(Postgres.insert(claims, each)));
        return attempts;
    }

    @Override
    public Optional<Map<EntryId, SettleResult.Settled>> insertCompleted(
            Connection connection, List<ClaimRequest> claims, List<Settlement> settlements, Bounds bounds)
            throws SQLException {
        if (claims.get(0).terms().lease().compareTo(OWN_RECORD_LEASE_MAX) > 0) {
            // Its settlement needs an audit row.
            return Optional.empty();
        }
        Map<EntryId, SettleResult.Settled> made = new HashMap<>();
        Binding arrays = ArrayParameters.of(claims)
                .then(new ArrayParameters<>(settlements)
                        .bytes(Settlement::result)
                        .texts(Settlement::reason));
        Postgres.RowEffect each = row -> made.put(StoredEntry.id(row, 1, Columns.NATIVE), StoredEntry.settled(row, 4));
        waiting(
                connection,
                setWait(bounds),
                List.of(new Postgres.Part(PostgresStatements.INSERT_COMPLETED, arrays, each)));
        return Optional.of(made);
    }

    /** Many are found by look-ups in the index only with settings, and going back to a savepoint takes those back. */
    @Override
    public Map<EntryId, Entry> findAll(Connection connection, List<EntryId> ids) throws SQLException {
        Savepoint before = connection.setSavepoint();
        Map<EntryId, Entry> found = postgres.find(connection, ids);
        connection.rollback(before);
        connection.releaseSavepoint(before);
        return found;
    }

    /** What is not free must not stay locked: its owner has to settle it. Going back to a savepoint unlocks it. */
    @Override
    public Optional<Integer> take(Connection connection, ClaimRequest claim, Bounds bounds) throws SQLException {
        Savepoint before = connection.setSavepoint();
        postgres.runAll(
                connection,
                List.of(new Postgres.Part(SAVE_WAIT, Binding.NONE, row -> {}), announce(claim.id(), bounds)));
        Optional<Integer> attempt = Optional.ofNullable(
                postgres.changes().claim(connection, List.of(claim), true).get(claim.id()));
        if (attempt.isEmpty()) {
            connection.rollback(before);
        } else {
            postgres.runAll(connection, List.of(new Postgres.Part(RESTORE_WAIT, Binding.NONE, row -> {})));
        }
        connection.releaseSavepoint(before);
        return attempt;
    }

    private static Postgres.Part announce(EntryId id, Bounds bounds) {
        String announced = millis(bounds, WAIT_ANNOUNCED_MILLIS);
        String hold = hold(bounds);
        Binding binding = Binding.longs(announcement(id))
                .then(Binding.texts(Columns.NATIVE, announced, millis(bounds, WAIT_MIN_MILLIS), hold, hold));
        return new Postgres.Part(ANNOUNCE, binding, row -> {});
    }

    private static Postgres.Part setWait(Bounds bounds) {
        String hold = hold(bounds);
        Binding binding = Binding.texts(Columns.NATIVE, millis(bounds, WAIT_MIN_MILLIS), hold, hold);
        return new Postgres.Part(SET_WAIT, binding, row -> {});
    }

    private static String millis(Bounds bounds, long least) {
        return String.valueOf(Math.max(least, bounds.waitMax().toMillis()));
    }

    private static String hold(Bounds bounds) {
        return bounds.heldMax().toMillis() + "ms";
    }

    private void waiting(Connection connection, Postgres.Part bound, List<Postgres.Part> claim) throws SQLException {
        List<Postgres.Part> parts = new ArrayList<>();
        parts.add(new Postgres.Part(SAVE_WAIT, Binding.NONE, row -> {}));
        parts.add(bound);
        parts.addAll(claim);
        parts.add(new Postgres.Part(RESTORE_WAIT, Binding.NONE, row -> {}));
        postgres.runAll(connection, parts);
    }

    @Override
    public Optional<Entry> find(Connection connection, EntryId id) throws SQLException {
        List<Entry> found = new ArrayList<>();
        Postgres.RowEffect each = row -> found.add(StoredEntry.read(row, Columns.NATIVE));
        postgres.runAll(connection, List.of(Postgres.find(List.of(id), each)));
        return found.stream().findFirst();
    }

    @Override
    public Map<EntryId, SettleResult.Settled> end(
            Connection connection, List<Settlement> settlements, List<Resolution> resolutions) throws SQLException {
        Map<EntryId, SettleResult.Settled> ended = new HashMap<>();
        if (!settlements.isEmpty()) {
            ended.putAll(postgres.write(connection, settlements, List.of()).settled());
        }
        if (!resolutions.isEmpty()) {
            ended.putAll(postgres.changes().resolve(connection, resolutions));
        }
        return ended;
    }

    @Override
    public Optional<SettleResult.Settled> settle(Connection connection, Settlement settlement) throws SQLException {
        Optional<SettleResult.Settled> ordinary = settleOrdinary(connection, settlement, false);
        return ordinary.isPresent() ? ordinary : settleAny(connection, settlement);
    }

    @Override
    public boolean isToldApart() {
        return true;
    }

    @Override
    public Optional<SettleResult.Settled> settleOwn(Connection connection, Settlement settlement) throws SQLException {
        Optional<SettleResult.Settled> ordinary = settleOrdinary(connection, settlement, true);
        if (ordinary.isPresent()) {
            return ordinary;
        }
        List<Integer> own = new ArrayList<>();
        Binding claim = RowParameters.owner(Columns.NATIVE, settlement.id(), settlement.token());
        postgres.runAll(
                connection,
                List.of(new Postgres.Part(PostgresStatements.IS_WITHIN, claim, row -> own.add(row.getInt(1)))));
        return own.isEmpty() ? Optional.empty() : settleAny(connection, settlement);
    }

    /** Most lives are ordinary: they need no row of the audit. Empty for others, too. */
    private Optional<SettleResult.Settled> settleOrdinary(Connection connection, Settlement settlement, boolean own)
            throws SQLException {
        if (!settlement.to().isAnswered()) {
            return Optional.empty();
        }
        List<SettleResult.Settled> settled = new ArrayList<>();
        Binding binding = RowParameters.of(Columns.NATIVE, settlement).then(Binding.longs(own ? 1 : 0));
        Postgres.RowEffect each = row -> settled.add(StoredEntry.settled(row, 1));
        postgres.runAll(connection, List.of(new Postgres.Part(PostgresStatements.SETTLE_WITHIN, binding, each)));
        return settled.stream().findFirst();
    }

    private Optional<SettleResult.Settled> settleAny(Connection connection, Settlement settlement) throws SQLException {
        List<SettleResult.Settled> settled = new ArrayList<>();
        Postgres.RowEffect each = row -> settled.add(StoredEntry.settled(row, 4));
        postgres.runAll(connection, List.of(Postgres.settle(List.of(settlement), each)));
        return settled.stream().findFirst();
    }
}
