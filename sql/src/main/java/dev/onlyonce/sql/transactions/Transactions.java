package dev.onlyonce.sql.transactions;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Answer;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.NodeName;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.sql.connections.Source;
import dev.onlyonce.sql.connections.SqlDatabase;
import dev.onlyonce.sql.connections.SqlFailure;
import dev.onlyonce.sql.entries.Database;
import dev.onlyonce.sql.entries.InTransaction;
import dev.onlyonce.sql.entries.Sealing;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * The transactional way to execute: the claim, the effect and its result are in one database and commit together, so the
 * effect happens exactly once. There is no lease: if the process dies, the database rolls everything back.
 *
 * <ol>
 *   <li>A savepoint is set.
 *   <li>The key is claimed by an insert. A request that is executing the same key at this moment is waited for, no longer
 *       than the policy's {@code waitMax}; a conflict is an answer, not an error, and does not harm the transaction.
 *   <li>The action runs and its result is recorded.
 *   <li>If anything fails on the way, the transaction goes back to the savepoint: neither claim nor effect remain, and
 *       what the caller did before is untouched.
 * </ol>
 *
 * <p>Safe for any number of threads, each with a connection of its own.
 */
public final class Transactions {
    /** Each round lost means that another transaction ended in between and changed the entry. */
    private static final int ROUNDS_MAX = 8;
    /** What a client is told to wait at least. */
    private static final Duration RETRY_AFTER_MIN = Duration.ofMillis(100);
    /** How long to wait for a transaction whose commit was not acknowledged to end one way or the other. */
    private static final Duration COMMIT_WAIT = Duration.ofSeconds(5);

    /** How often a duplicate that waits looks again; it has no connection meanwhile. */
    private static final Duration PAUSE_MIN = Duration.ofMillis(5);

    private static final Duration PAUSE_MAX = Duration.ofMillis(100);

    private final SqlDatabase kind;
    private final InTransaction inside;
    private final Calls calls;
    private final Sealing sealing;
    private final Policy policy;

    public Transactions(Database database, Calls calls, Sealing sealing, Policy policy) {
        this.kind = database.kind();
        this.inside = database.inside();
        this.calls = calls;
        this.sealing = sealing;
        this.policy = policy;
    }

    /**
     * Executes in the caller's transaction. What it returns holds when the caller commits: nothing may be told to a client
     * before that, and if the caller rolls back, nothing has happened.
     *
     * <p>The action's exception passes through after the transaction went back to where it was before this call; the
     * caller may go on with it and commit.
     *
     * @param transaction a connection with auto-commit off
     * @throws X what the action throws
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer; the action did not run, or its effect was undone
     */
    public <T, X extends Exception> Outcome<T> execute(
            Connection transaction, Key key, Fingerprint fingerprint, Codec<T> codec, TransactionalAction<T, X> action)
            throws X {
        return execute(new Run(transaction, key, fingerprint, UUID.randomUUID(), policy.waitMax()), codec, action);
    }

    /**
     * Executes in a transaction of its own and commits it. On return everything is durable. A commit whose acknowledgement
     * is lost is looked up by its token. A duplicate that waits has no connection meanwhile.
     *
     * @throws X what the action throws, after a rollback
     * @throws TransactionConflict if it was rolled back because of concurrent work; call again
     * @throws StoreException if the database cannot answer; after {@link StoreOutcomeUnknown} it may have happened, and
     *     calling again tells
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Codec<T> codec, TransactionalAction<T, X> action) throws X {
        long begun = System.nanoTime();
        long pauseNanos = PAUSE_MIN.toNanos();
        while (true) {
            Outcome<T> outcome = executeAlone(key, fingerprint, codec, action);
            long leftNanos = policy.waitMax().toNanos() - (System.nanoTime() - begun);
            if (!(outcome instanceof Outcome.InFlight)
                    || leftNanos <= 0
                    || Thread.currentThread().isInterrupted()) {
                return outcome;
            }
            LockSupport.parkNanos(Math.min(pauseNanos, leftNanos));
            pauseNanos = Math.min(2 * pauseNanos, PAUSE_MAX.toNanos());
        }
    }

    private <T, X extends Exception> Outcome<T> executeAlone(
            Key key, Fingerprint fingerprint, Codec<T> codec, TransactionalAction<T, X> action) throws X {
        Source.Taken taken = calls.take(Source.Use.TRANSACTION);
        boolean ended = false;
        try {
            Connection connection = taken.connection();
            begin(connection);
            Run run = new Run(connection, key, fingerprint, UUID.randomUUID(), Duration.ZERO);
            Outcome<T> outcome;
            try {
                outcome = execute(run, codec, action);
            } catch (Throwable e) {
                ended = rollBack(connection, e);
                throw e;
            }
            Optional<SQLException> lost = commit(connection);
            ended = lost.isEmpty();
            return lost.isPresent() && outcome instanceof Outcome.Executed<T>
                    ? lookUp(run, outcome, lost.get())
                    : outcome;
        } finally {
            taken.give(ended);
        }
    }

    /** Which transaction, what for, and how long it waits for another with the same key. */
    private record Run(Connection connection, Key key, Fingerprint fingerprint, UUID token, Duration waitMax) {}

    private <T, X extends Exception> Outcome<T> execute(Run run, Codec<T> codec, TransactionalAction<T, X> action)
            throws X {
        Connection connection = run.connection;
        Savepoint savepoint = savepoint(connection);
        try {
            ClaimResult claimed = claim(run);
            if (claimed instanceof ClaimResult.Existing existing) {
                connection.releaseSavepoint(savepoint);
                return answer(run, existing.entry()).map(codec::decode);
            }
        } catch (SQLException e) {
            return refused(run, savepoint, e);
        } catch (StoreBusy e) {
            if (!goBack(connection, savepoint, e)) {
                throw e;
            }
            return new Outcome.InFlight<>(false, RETRY_AFTER_MIN);
        } catch (RuntimeException e) {
            goBack(connection, savepoint, e);
            throw e;
        }
        try {
            T value = action.run(connection);
            SettleResult.Settled settled = complete(run, savepoint, codec.encode(value));
            return new Outcome.Executed<>(value, requireNonNull(settled.expiresAt()));
        } catch (Throwable e) {
            goBack(connection, savepoint, e);
            throw e;
        }
    }

    /** Inserts, or takes what is free. What the insert meets is read and answered. */
    private ClaimResult claim(Run run) throws SQLException {
        Duration waitMax = run.waitMax;
        ClaimRequest request = request(run, run.fingerprint);
        for (int round = 1; ; round++) {
            Optional<Integer> attempt = inside.insert(run.connection, request, waitMax);
            if (attempt.isEmpty()) {
                Optional<Entry> found =
                        inside.find(run.connection, request.id()).map(sealing::shown);
                if (found.isPresent() && !(isFree(run, found.get()) && round < ROUNDS_MAX)) {
                    return new ClaimResult.Existing(found.get());
                }
                attempt = found.isPresent()
                        ? inside.take(run.connection, request(run, sameVersion(run, found.get())), waitMax)
                        : inside.replace(run.connection, request, waitMax);
            }
            if (attempt.isPresent()) {
                return new ClaimResult.Claimed(attempt.get());
            }
            if (round == ROUNDS_MAX) {
                throw new StoreBusy("the entry changed hands " + ROUNDS_MAX + " times while being claimed", null);
            }
        }
    }

    private ClaimRequest request(Run run, Fingerprint fingerprint) {
        return new ClaimRequest(
                run.key.entryId(),
                run.key.operation(),
                fingerprint,
                run.token,
                NodeName.ofThisProcess(),
                policy.terms(),
                State.PROCESSING);
    }

    private boolean isFree(Run run, Entry entry) {
        return entry.state().canBecome(State.PROCESSING) && answer(run, entry) instanceof Outcome.InFlight;
    }

    private static Fingerprint sameVersion(Run run, Entry entry) {
        return run.fingerprint.in(entry.fingerprint().version()).orElse(run.fingerprint);
    }

    private Outcome<byte[]> answer(Run run, Entry entry) {
        Duration left = entry.leaseLeft();
        Duration retryAfter = left.compareTo(RETRY_AFTER_MIN) < 0 ? RETRY_AFTER_MIN : left;
        return Answer.of(run.key, run.fingerprint, entry, retryAfter);
    }

    private SettleResult.Settled complete(Run run, Savepoint savepoint, byte[] result) {
        byte[] envelope = result.length <= policy.resultBytesMax()
                ? Envelope.value(result)
                : Envelope.failure(new Failure(
                        Failure.RESULT_NOT_STORED,
                        "It completed, but its result was larger than " + policy.resultBytesMax()
                                + " bytes and was not stored"));
        Settlement settlement =
                new Settlement(run.key.entryId(), run.token, State.COMPLETED, envelope, "completed in a transaction");
        try {
            Optional<SettleResult.Settled> settled = inside.settle(run.connection, sealing.seal(settlement));
            run.connection.releaseSavepoint(savepoint);
            return settled.orElseThrow(() -> new IllegalStateException(
                    "The claim is gone: did the action commit, roll back or change its entry?"));
        } catch (SQLException e) {
            throw exception(SqlFailure.of(kind, e), e);
        }
    }

    /** The claim met an error: the transaction goes back to where it was. */
    private <T> Outcome<T> refused(Run run, Savepoint savepoint, SQLException e) {
        SqlFailure failure = SqlFailure.of(kind, e);
        boolean back = goBack(run.connection, savepoint, e);
        if (!failure.isWait()) {
            throw exception(failure, e);
        }
        if (!back) {
            throw new TransactionConflict("the database has rolled the whole transaction back", e);
        }
        return new Outcome.InFlight<>(false, RETRY_AFTER_MIN);
    }

    /** Nothing is committed yet, so whatever was lost with the connection has not happened. */
    public static RuntimeException exception(SqlFailure failure, SQLException e) {
        return failure.isCuredByRetry()
                ? new TransactionConflict("the database asks for this transaction to be rolled back and run again", e)
                : failure.exception(false, e);
    }

    public static Savepoint savepoint(Connection connection) {
        try {
            if (connection.getAutoCommit()) {
                throw new IllegalArgumentException(
                        "the connection is in auto-commit mode: there is no transaction to execute in");
            }
            return connection.setSavepoint();
        } catch (SQLException e) {
            throw new StoreUnavailable("the transaction cannot be used", e);
        }
    }

    public static boolean goBack(Connection connection, Savepoint savepoint, Throwable cause) {
        try {
            connection.rollback(savepoint);
            connection.releaseSavepoint(savepoint);
            return true;
        } catch (SQLException e) {
            cause.addSuppressed(e);
            return false;
        }
    }

    private static void begin(Connection connection) {
        try {
            connection.setAutoCommit(false);
        } catch (SQLException e) {
            throw new StoreUnavailable("no transaction can be begun", e);
        }
    }

    private static boolean rollBack(Connection connection, Throwable cause) {
        try {
            connection.rollback();
            connection.setAutoCommit(true);
            return true;
        } catch (SQLException e) {
            cause.addSuppressed(e);
            return false;
        }
    }

    /** Commits; returns the error that leaves the outcome open, throws those that do not. */
    private Optional<SQLException> commit(Connection connection) {
        try {
            connection.commit();
            connection.setAutoCommit(true);
            return Optional.empty();
        } catch (SQLException e) {
            SqlFailure failure = SqlFailure.of(kind, e);
            if (failure == SqlFailure.ANSWER_LOST) {
                return Optional.of(e);
            }
            RuntimeException known = exception(failure, e);
            rollBack(connection, known);
            throw known;
        }
    }

    /**
     * Finds out what became of a commit. Claiming the key waits for the lost transaction if it is still about to end: a
     * claim that succeeds proves that it did not commit.
     */
    private <T> Outcome<T> lookUp(Run run, Outcome<T> outcome, SQLException lost) {
        ClaimResult found;
        try {
            Source.Taken taken = calls.take(Source.Use.TRANSACTION);
            boolean ended = false;
            try {
                begin(taken.connection());
                found = claim(new Run(taken.connection(), run.key, run.fingerprint, UUID.randomUUID(), COMMIT_WAIT));
                ended = rollBack(taken.connection(), lost);
            } finally {
                taken.give(ended);
            }
        } catch (SQLException | StoreException e) {
            lost.addSuppressed(e);
            throw new StoreOutcomeUnknown("the acknowledgement of the commit was lost; calling again tells", lost);
        }
        boolean mine = found instanceof ClaimResult.Existing existing
                && run.token.equals(existing.entry().token());
        if (!mine) {
            throw new StoreUnavailable("the connection was lost before the commit: nothing happened", lost);
        }
        return outcome;
    }
}
