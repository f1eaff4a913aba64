package dev.onlyonce.sql.transactions;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.sql.internal.entries.InTransaction;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.Tokens;
import java.io.Serial;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Executes many requests in one transaction. For this module only: the {@code Inbox} is built on it.
 *
 * <ol>
 *   <li>It claims all keys with one insert, on PostgreSQL as completed already. A key that occurs twice is claimed once.
 *   <li>It reads the entries that were there already, with one statement. Those that are free are taken one by one: they are rare.
 *   <li>It runs the actions of the claimed keys, in the order of the batch, behind one savepoint for all: one for each would cost two
 *       round trips each. It is released at the end, which fails if the transaction cannot be committed.
 *   <li>It records the results that are not recorded yet with one statement, commits, and publishes what happened.
 * </ol>
 *
 * If an action throws, everything is rolled back, and the caller executes the requests {@linkplain #executeEach one at a time}.
 */
public final class BatchRunner {
    /** When to ask again about an entry that somebody else is making. */
    private static final Duration RETRY_AFTER = Duration.ofMillis(100);

    private final SqlDatabase kind;
    private final SqlDialect database;
    private final InTransaction statements;
    private final ClaimRound round;
    private final Connections calls;
    private final Sealing sealing;
    private final Registry registry;

    /** On this database, publishing to the registry's listeners. */
    public BatchRunner(SqlAccess access, Registry registry) {
        this.database = access.database();
        this.kind = database.kind();
        this.statements = access.inTransaction();
        this.round = new ClaimRound(access);
        this.calls = access.connections();
        this.sealing = access.sealing();
        this.registry = registry;
    }

    /**
     * A request of a batch; it has no result.
     *
     * @param action must not be able to end the transaction ({@link GuardedConnection}): entries say that all is done before it is
     */
    public record Item(Key key, Fingerprint fingerprint, TransactionalAction<byte[], ?> action) {
        EntryId id() {
            return key.entryId();
        }
    }

    /** An action has thrown, and everything was rolled back. */
    public static final class ActionFailed extends Exception {
        @Serial
        private static final long serialVersionUID = 1;

        ActionFailed(Exception cause) {
            super(cause);
        }
    }

    /** The batch while it runs: what was claimed, and the answers to the others, from the entries that were there before. */
    private record Batch(
            List<Item> items,
            Map<EntryId, ClaimRequest> claims,
            Map<EntryId, Integer> attempts,
            Map<EntryId, Outcome<byte[]>> answers,
            Map<EntryId, Entry> before) {
        Batch(List<Item> items, Map<EntryId, ClaimRequest> claims) {
            this(items, claims, new HashMap<>(), new HashMap<>(), new HashMap<>());
        }
    }

    /**
     * Executes all in a transaction of its own and commits it.
     *
     * @param items not empty
     * @return an outcome for each, in the same order
     * @throws ActionFailed if an action throws; nothing has happened
     * @throws TransactionConflict if it was rolled back because of concurrent work; call again
     * @throws dev.onlyonce.store.StoreException if the database cannot answer; after {@link StoreOutcomeUnknown} it may have happened,
     *     and calling again tells
     */
    public List<Outcome<byte[]>> execute(List<Item> items, Policy policy) throws ActionFailed {
        Batch batch = new Batch(items, claims(items, policy));
        OwnTransaction own = OwnTransaction.begin(calls, kind);
        try {
            List<Outcome<byte[]>> outcomes;
            try {
                claim(own.connection(), batch, InTransaction.Bounds.of(policy));
                run(own.connection(), batch);
                settle(own.connection(), batch);
                if (!batch.before.isEmpty()) {
                    // Senders forget what was applied before, too.
                    database.awaitStandby(own.connection());
                }
                outcomes = outcomes(batch);
            } catch (SQLException e) {
                RuntimeException known = Savepoints.exception(SqlFailure.of(kind, e), e);
                own.rollBack(known);
                throw known;
            } catch (Throwable e) {
                own.rollBack(e);
                throw e;
            }
            Optional<SQLException> lost = own.commit();
            if (lost.isPresent()) {
                throw new StoreOutcomeUnknown(
                        "the acknowledgement of the commit was lost; calling again tells", lost.get());
            }
            publish(batch, outcomes);
            return outcomes;
        } finally {
            own.giveBack();
        }
    }

    /** What to throw instead, if the database has ended the work that threw this because of concurrent work. */
    public Optional<TransactionConflict> conflict(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException e && SqlFailure.of(kind, e) == SqlFailure.CONFLICT) {
                return Optional.of(new TransactionConflict("an action met a deadlock", thrown));
            }
        }
        return Optional.empty();
    }

    /** Something to do in a transaction. */
    @FunctionalInterface
    public interface Work {
        void run(Connection transaction);
    }

    /**
     * Runs work in a transaction of its own and commits it.
     *
     * @throws StoreOutcomeUnknown if the acknowledgement of the commit was lost
     */
    public void executeEach(Work work) {
        OwnTransaction own = OwnTransaction.begin(calls, kind);
        try {
            try {
                work.run(own.connection());
            } catch (Throwable e) {
                own.rollBack(e);
                throw e;
            }
            Optional<SQLException> lost = own.commit();
            if (lost.isPresent()) {
                throw new StoreOutcomeUnknown(
                        "the acknowledgement of the commit was lost; calling again tells", lost.get());
            }
        } finally {
            own.giveBack();
        }
    }

    /** By id, each id once, in the order of the batch. */
    private Map<EntryId, ClaimRequest> claims(List<Item> items, Policy policy) {
        Map<EntryId, ClaimRequest> claims = new LinkedHashMap<>();
        for (Item item : items) {
            claims.computeIfAbsent(
                    item.id(),
                    id -> new ClaimRequest(
                            id,
                            item.key.operation(),
                            item.fingerprint,
                            Tokens.next(),
                            registry.name(),
                            policy.terms(),
                            State.PROCESSING));
        }
        return claims;
    }

    private void claim(Connection connection, Batch batch, InTransaction.Bounds bounds) throws SQLException {
        // Sorted, so that two nodes with the same messages cannot deadlock.
        List<EntryId> ids = batch.claims.keySet().stream().sorted().toList();
        List<ClaimRequest> claims =
                ids.stream().map(id -> requireNonNull(batch.claims.get(id))).toList();
        Optional<Map<EntryId, SettleResult.Settled>> completed =
                statements.insertCompleted(connection, claims, settlements(batch, ids), bounds);
        if (completed.isPresent()) {
            completed.get().keySet().forEach(id -> batch.attempts.put(id, 1));
            executed(batch, completed.get());
        } else {
            batch.attempts.putAll(statements.insertAll(connection, claims, bounds));
        }
        List<EntryId> rest =
                ids.stream().filter(id -> !batch.attempts.containsKey(id)).toList();
        if (rest.isEmpty()) {
            return;
        }
        Map<EntryId, Entry> found = statements.findAll(connection, rest);
        for (EntryId id : rest) {
            ClaimRequest claim = requireNonNull(batch.claims.get(id));
            Optional<Entry> entry = Optional.ofNullable(found.get(id)).map(sealing::shown);
            Outcome<byte[]> answer = entry.map(e -> answer(Key.of(id, claim.operation()), claim.fingerprint(), e))
                    .orElseGet(BatchRunner::inFlight);
            Optional<Integer> attempt = round.takeOver(connection, claim, entry, bounds);
            if (attempt.isPresent()) {
                batch.attempts.put(id, attempt.get());
            } else {
                batch.answers.put(id, answer);
                entry.ifPresent(e -> batch.before.put(id, e));
            }
        }
    }

    private static Outcome<byte[]> inFlight() {
        return new Outcome.InFlight<>(false, RETRY_AFTER);
    }

    private static Outcome<byte[]> answer(Key key, Fingerprint fingerprint, Entry entry) {
        return Registry.answer(key, fingerprint, entry, RETRY_AFTER);
    }

    /**
     * Runs the actions behind one savepoint, which is there afterwards only if the transaction can still be committed: an action may have
     * ignored that a statement failed, after which PostgreSQL takes the commit and rolls back, or may have ended the transaction.
     */
    private static void run(Connection connection, Batch batch) throws ActionFailed, SQLException {
        Savepoint before = connection.setSavepoint();
        runAll(connection, batch);
        try {
            connection.releaseSavepoint(before);
        } catch (SQLException e) {
            throw new ActionFailed(e);
        }
    }

    private static void runAll(Connection connection, Batch batch) throws ActionFailed {
        Map<EntryId, Item> done = new HashMap<>();
        for (Item item : batch.items) {
            if (batch.attempts.containsKey(item.id()) && done.putIfAbsent(item.id(), item) == null) {
                try {
                    item.action.run(connection);
                } catch (Exception e) {
                    throw new ActionFailed(e);
                }
            }
        }
    }

    /** Records the results of those that were not inserted as completed. */
    private void settle(Connection connection, Batch batch) throws SQLException {
        List<EntryId> open = batch.attempts.keySet().stream()
                .filter(id -> !batch.answers.containsKey(id))
                .sorted()
                .toList();
        if (open.isEmpty()) {
            return;
        }
        Map<EntryId, SettleResult.Settled> settled = statements.end(connection, settlements(batch, open), List.of());
        if (settled.size() != open.size()) {
            throw new IllegalStateException("A claim is gone: did an action change its entry?");
        }
        executed(batch, settled);
    }

    private List<Settlement> settlements(Batch batch, List<EntryId> ids) {
        return sealing.seal(ids.stream()
                .map(id -> new Settlement(
                        id,
                        requireNonNull(batch.claims.get(id)).token(),
                        State.COMPLETED,
                        Envelope.value(new byte[0]),
                        Publication.COMPLETED))
                .toList());
    }

    private static void executed(Batch batch, Map<EntryId, SettleResult.Settled> settled) {
        settled.forEach((id, end) ->
                batch.answers.put(id, new Outcome.Executed<>(new byte[0], requireNonNull(end.expiresAt()))));
    }

    /**
     * Each item of an id that was there before is compared with its entry. Of a new id, the first item gets the entry's answer, and a
     * later one is compared with the first.
     */
    private static List<Outcome<byte[]>> outcomes(Batch batch) {
        List<Outcome<byte[]>> outcomes = new ArrayList<>();
        Map<EntryId, Item> first = new HashMap<>();
        for (Item item : batch.items) {
            Entry entry = batch.before.get(item.id());
            if (entry != null) {
                outcomes.add(answer(item.key, item.fingerprint, entry));
                continue;
            }
            Outcome<byte[]> answer = requireNonNull(batch.answers.get(item.id()));
            Item before = first.putIfAbsent(item.id(), item);
            if (before != null && !before.fingerprint.matches(item.fingerprint)) {
                answer = new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST);
            } else if (before != null && answer instanceof Outcome.Executed<byte[]> executed) {
                answer = new Outcome.Replayed<>(executed.value(), executed.expiresAt());
            }
            outcomes.add(answer);
        }
        return outcomes;
    }

    private void publish(Batch batch, List<Outcome<byte[]>> outcomes) {
        Publication publication = new Publication(registry);
        for (int i = 0; i < outcomes.size(); i++) {
            Key key = batch.items.get(i).key;
            if (outcomes.get(i) instanceof Outcome.Executed) {
                publication.executed(key, requireNonNull(batch.attempts.get(key.entryId())));
            } else {
                publication.answered(key, outcomes.get(i));
            }
        }
    }
}
