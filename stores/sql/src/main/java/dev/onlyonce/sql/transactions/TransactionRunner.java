package dev.onlyonce.sql.transactions;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.SqlFailure;
import dev.onlyonce.sql.internal.entries.InTransaction;
import dev.onlyonce.sql.internal.entries.RunningKeys;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.store.ClaimRequest;
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
import dev.onlyonce.store.Tokens;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Claims, executes and records in one transaction. For this module only: {@code Transactions} and {@code Inbox} are built on it.
 *
 * <ol>
 *   <li>A request whose answer this node remembers is answered from memory, before a transaction begins.
 *   <li>In a caller's transaction, it sets a savepoint. One that was begun for the claim alone needs none where the database tells at the
 *       settlement whether it is still the same: whoever began it rolls it back unless the request was executed.
 *   <li>It claims the key by an insert. A request that is executing the same key at this moment is waited for, no longer than
 *       the policy's {@code waitMax}; a conflict is an answer, not an error, and does not harm the transaction.
 *   <li>It runs the action and records its result.
 *   <li>If anything fails, the transaction goes back to the savepoint: neither claim nor effect remain, and what the
 *       caller did before is untouched.
 *   <li>Then it publishes what happened: in a transaction of its own after the commit, in the caller's before it.
 * </ol>
 */
public final class TransactionRunner {
    /** The shortest wait that a client is asked for. */
    private static final Duration RETRY_AFTER_MIN = Duration.ofMillis(100);
    /** How long to wait for a transaction whose commit was not acknowledged to end one way or the other. */
    private static final Duration COMMIT_WAIT = Duration.ofSeconds(5);

    private static final String LOST = "the acknowledgement of the commit was lost; calling again tells";

    private final SqlDatabase kind;
    private final SqlDialect database;
    private final InTransaction statements;
    private final ClaimRound claims;
    private final Connections calls;
    private final Sealing sealing;
    private final RunningKeys running;
    private final Registry registry;
    private final Publication publication;

    /** On this database, publishing to the registry's listeners. */
    public TransactionRunner(SqlAccess access, Registry registry) {
        this.database = access.database();
        this.kind = database.kind();
        this.statements = access.inTransaction();
        this.claims = new ClaimRound(access);
        this.calls = access.connections();
        this.sealing = access.sealing();
        this.running = access.running();
        this.registry = registry;
        this.publication = new Publication(registry);
    }

    /**
     * What to execute, and how its result is stored.
     *
     * @param isForgotten whether whoever asks forgets the request when it is answered, as the sender of a message does: an answer from an
     *     earlier execution must last too
     */
    public record Request<T>(Key key, Fingerprint fingerprint, Policy policy, Codec<T> codec, boolean isForgotten) {
        Request<T> under(Policy other) {
            return new Request<>(key, fingerprint, other, codec, isForgotten);
        }

        /** The same, from somebody who forgets it when it is answered, as the sender of a message does. */
        public Request<T> forgotten() {
            return new Request<>(key, fingerprint, policy, codec, true);
        }

        /**
         * Whether a transaction that was begun for this request must be committed for an outcome, and not rolled back. Who forgets needs a
         * commit that waits for a synchronous standby, even if nothing was written: the answer rests on what was read, which the
         * standby may not have.
         */
        public boolean commits(Outcome<?> outcome) {
            return outcome instanceof Outcome.Executed || (isForgotten && !(outcome instanceof Outcome.InFlight));
        }
    }

    /**
     * One try, in one transaction.
     *
     * @param isCallers whether the caller did something else in it, or may go on with it
     * @param waitMax how long it waits for another with the same key
     */
    private record Try<T>(Connection connection, boolean isCallers, Request<T> request, UUID token, Duration waitMax) {
        InTransaction.Bounds bounds() {
            return new InTransaction.Bounds(waitMax, request.policy.heldMax());
        }

        Key key() {
            return request.key;
        }
    }

    /**
     * An outcome that is not published yet.
     *
     * @param attempt the attempt that was executed; 0 if none was
     */
    private record Done<T>(Outcome<T> outcome, int attempt, long begun, long claimed, long acted) {}

    /** Executes the key of {@link #alone} in the transaction that was begun for it. */
    public final class Within<T> {
        private final Request<T> request;
        private @Nullable Done<T> done;

        private Within(Request<T> request) {
            this.request = request;
        }

        /**
         * Executes in a transaction in which nothing was done before. Roll it back unless the request {@linkplain Request#commits
         * commits} the outcome: it may have failed.
         *
         * @throws TransactionConflict if it is lost as a whole
         */
        public <X extends Exception> Outcome<T> execute(Connection transaction, TransactionalAction<T, X> action)
                throws X {
            try {
                Done<T> result = TransactionRunner.this.run(
                        new Try<>(transaction, false, request, Tokens.next(), Duration.ZERO), action);
                done = result;
                return result.outcome;
            } catch (StoreException e) {
                registry.publish(new Event.StoreFailed(e));
                throw e;
            }
        }
    }

    /**
     * Executes in the caller's transaction.
     *
     * @throws TransactionConflict if that is lost as a whole: MySQL rolls all of it back after a deadlock, and what the caller did before
     *     is undone too
     */
    public <T, X extends Exception> Outcome<T> execute(
            Connection transaction, Request<T> request, TransactionalAction<T, X> action) throws X {
        Duration waitMax = request.policy.waitMax();
        long begun = System.nanoTime();
        try {
            Optional<Outcome<byte[]>> known =
                    running.await(request.key, request.fingerprint, begun + waitMax.toNanos());
            if (known.isPresent()) {
                return publish(request.key, answered(known.get().map(request.codec::decode)));
            }
            // In whole milliseconds: what was not waited for must not be missing from a whole second.
            Duration waited = Duration.ofMillis(
                    Duration.ofNanos(System.nanoTime() - begun).toMillis());
            Duration left = waited.compareTo(waitMax) < 0 ? waitMax.minus(waited) : Duration.ZERO;
            Try<T> only = new Try<>(transaction, true, request, Tokens.next(), left);
            return publish(request.key, run(only, action));
        } catch (StoreException e) {
            registry.publish(new Event.StoreFailed(e));
            throw e;
        }
    }

    /** Executes in a transaction of its own and commits it. */
    public <T, X extends Exception> Outcome<T> execute(Request<T> request, TransactionalAction<T, X> action) throws X {
        return single(request, () -> {
            try {
                return executeAlone(request, action);
            } catch (StoreException e) {
                registry.publish(new Event.StoreFailed(e));
                throw e;
            }
        });
    }

    /** A transaction of the caller's making, from its beginning to its commit. */
    @FunctionalInterface
    public interface Transaction<T, X extends Exception> {
        /** Begins a new transaction, executes the key in it, and commits it if that is to be. */
        Outcome<T> run(TransactionRunner.Within<T> key) throws X;
    }

    /** Runs such a transaction, unless this node is executing the key already. */
    public <T, X extends Exception> Outcome<T> alone(Request<T> request, Transaction<T, X> transaction) throws X {
        return single(request, () -> {
            Within<T> within = new Within<>(request);
            Outcome<T> outcome = transaction.run(within);
            Done<T> done = within.done;
            return done == null || done.outcome != outcome ? answered(outcome) : done;
        });
    }

    @FunctionalInterface
    private interface Work<T, X extends Exception> {
        Done<T> run() throws X;
    }

    /** One at a time for each key; those that wait have no connection. */
    private <T, X extends Exception> Outcome<T> single(Request<T> request, Work<T, X> work) throws X {
        Optional<Outcome<T>> cached = cached(request);
        if (cached.isPresent()) {
            return cached.get();
        }
        long until = System.nanoTime() + request.policy.waitMax().toNanos();
        while (true) {
            long since = registry.time().nanos();
            RunningKeys.Entered entered = running.enter(request.key, request.fingerprint, until);
            RunningKeys.Run run = entered.run();
            if (run == null) {
                return publish(
                        request.key, answered(requireNonNull(entered.answer()).map(request.codec::decode)));
            }
            Outcome<T> outcome = null;
            Done<T> done;
            try {
                // A run that has ended since the first look has left its answer.
                cached = cached(request);
                if (cached.isPresent()) {
                    return cached.get();
                }
                done = work.run();
                outcome = done.outcome;
                if (outcome instanceof Outcome.Executed) {
                    run.recorded().ifPresent(entry -> registry.remember(entry, since));
                }
            } finally {
                running.end(run, outcome);
            }
            if (!(outcome instanceof Outcome.InFlight)
                    || System.nanoTime() - until >= 0
                    || Thread.currentThread().isInterrupted()) {
                return publish(request.key, done);
            }
        }
    }

    private <T> Optional<Outcome<T>> cached(Request<T> request) {
        return request.isForgotten
                ? Optional.empty()
                : registry.cached(request.key, request.fingerprint).map(found -> found.map(request.codec::decode));
    }

    private <T, X extends Exception> Done<T> executeAlone(Request<T> request, TransactionalAction<T, X> action)
            throws X {
        if (kind == SqlDatabase.MYSQL && calls.read(c -> statements.isBeingMade(c, request.key.entryId()))) {
            return answered(new Outcome.InFlight<>(false, RETRY_AFTER_MIN));
        }
        OwnTransaction own = OwnTransaction.begin(calls, kind);
        try {
            Try<T> only = new Try<>(own.connection(), false, request, Tokens.next(), Duration.ZERO);
            Done<T> done;
            try {
                done = run(only, action);
            } catch (Throwable e) {
                own.rollBack(e);
                throw e;
            }
            if (!request.commits(done.outcome)) {
                own.rollBack();
                return done;
            }
            Optional<SQLException> lost = own.commit();
            if (lost.isPresent() && done.attempt == 0) {
                throw new StoreOutcomeUnknown(LOST, lost.get());
            }
            return lost.isPresent() ? lookUp(only, done, lost.get()) : done;
        } finally {
            own.giveBack();
        }
    }

    private <T, X extends Exception> Done<T> run(Try<T> run, TransactionalAction<T, X> action) throws X {
        long begun = registry.time().nanos();
        Connection connection = run.connection;
        boolean isOwn = !run.isCallers && statements.isToldApart();
        Savepoint savepoint = isOwn ? null : Savepoints.set(connection);
        int attempt = 1;
        try {
            ClaimRound.Result claimed = claim(run);
            if (claimed instanceof ClaimRound.Result.Found found) {
                return found(run, savepoint, found.entry(), begun);
            }
            if (claimed instanceof ClaimRound.Result.Taken taken) {
                attempt = taken.attempt();
                // A row that was taken does not tell which transaction it is from.
                savepoint = savepoint == null ? Savepoints.set(connection) : savepoint;
            }
        } catch (SQLException e) {
            return answered(refused(run, savepoint, e));
        } catch (StoreBusy e) {
            if (!Savepoints.goBack(connection, savepoint, e)) {
                throw e;
            }
            return answered(new Outcome.InFlight<>(false, RETRY_AFTER_MIN));
        } catch (RuntimeException e) {
            Savepoints.goBack(connection, savepoint, e);
            throw e;
        }
        long claimed = registry.time().nanos();
        try {
            T value = action.run(connection);
            long acted = registry.time().nanos();
            SettleResult.Settled settled = complete(run, savepoint, run.request.codec.encode(value));
            Outcome<T> executed = new Outcome.Executed<>(value, requireNonNull(settled.expiresAt()));
            return new Done<>(executed, attempt, begun, claimed, acted);
        } catch (Throwable e) {
            boolean back = Savepoints.goBack(connection, savepoint, e);
            if (!back && run.isCallers && e instanceof Exception) {
                throw Savepoints.lost(e);
            }
            throw e;
        }
    }

    /** The answer from an entry that is there. */
    private <T> Done<T> found(Try<T> run, @Nullable Savepoint savepoint, Entry entry, long begun) throws SQLException {
        Savepoints.release(run.connection, savepoint);
        if (run.request.isForgotten) {
            database.awaitStandby(run.connection);
        }
        if (!run.isCallers) {
            // A caller's transaction may see what it has not committed.
            registry.remember(entry, begun);
        }
        return answered(answer(run, entry).map(run.request.codec::decode));
    }

    private static <T> Done<T> answered(Outcome<T> outcome) {
        return new Done<>(outcome, 0, 0, 0, 0);
    }

    private ClaimRound.Result claim(Try<?> run) throws SQLException {
        ClaimRequest request = new ClaimRequest(
                run.key().entryId(),
                run.key().operation(),
                run.request.fingerprint,
                run.token,
                registry.name(),
                run.request.policy.terms(),
                State.PROCESSING);
        return claims.claim(run.connection, request, run.bounds());
    }

    private static Outcome<byte[]> answer(Try<?> run, Entry entry) {
        Duration left = entry.leaseLeft();
        Duration retryAfter = left.compareTo(RETRY_AFTER_MIN) < 0 ? RETRY_AFTER_MIN : left;
        return Registry.answer(run.key(), run.request.fingerprint, entry, retryAfter);
    }

    private SettleResult.Settled complete(Try<?> run, @Nullable Savepoint savepoint, byte[] result) {
        int max = run.request.policy.resultBytesMax();
        byte[] envelope = result.length <= max
                ? Envelope.value(result)
                : Envelope.failure(new Failure(
                        Failure.RESULT_NOT_STORED,
                        "It completed, but its result was larger than " + max + " bytes and was not stored"));
        Settlement settlement =
                new Settlement(run.key().entryId(), run.token, State.COMPLETED, envelope, Publication.COMPLETED);
        try {
            Settlement sealed = sealing.seal(settlement);
            Optional<SettleResult.Settled> settled = savepoint == null
                    ? statements.settleOwn(run.connection, sealed)
                    : statements.settle(run.connection, sealed);
            Savepoints.release(run.connection, savepoint);
            SettleResult.Settled own = settled.orElseThrow(() -> new IllegalStateException(
                    "The claim is gone: did the action commit, roll back or change its entry?"));
            running.recorded(run.key().entryId(), envelope, own);
            return own;
        } catch (SQLException e) {
            throw Savepoints.exception(SqlFailure.of(kind, e), e);
        }
    }

    /** The claim met an error: the transaction goes back to where it was. */
    private <T> Outcome<T> refused(Try<T> run, @Nullable Savepoint savepoint, SQLException e) {
        SqlFailure failure = SqlFailure.of(kind, e);
        boolean back = Savepoints.goBack(run.connection, savepoint, e);
        if (!failure.isWait()) {
            throw Savepoints.exception(failure, e);
        }
        if (!back) {
            throw Savepoints.lost(e);
        }
        return new Outcome.InFlight<>(false, RETRY_AFTER_MIN);
    }

    /**
     * Finds out what became of a commit. Claiming the key waits for the lost transaction if it is still about to end: a
     * claim that succeeds proves that it did not commit.
     */
    private <T> Done<T> lookUp(Try<T> run, Done<T> done, SQLException lost) {
        ClaimRound.Result found;
        try {
            OwnTransaction own = OwnTransaction.begin(calls, kind);
            try {
                found = claim(new Try<>(own.connection(), false, run.request, Tokens.next(), COMMIT_WAIT));
                own.rollBack(lost);
                // On the connection that has seen it: another may lead to another server.
                database.awaitStandby(own.connection());
            } finally {
                own.giveBack();
            }
        } catch (SQLException | StoreException e) {
            lost.addSuppressed(e);
            throw new StoreOutcomeUnknown(LOST, lost);
        }
        boolean mine = found instanceof ClaimRound.Result.Found existing
                && run.token.equals(existing.entry().token());
        if (!mine) {
            throw new StoreUnavailable("the connection was lost before the commit: nothing happened", lost);
        }
        return done;
    }

    private <T> Outcome<T> publish(Key key, Done<T> done) {
        if (done.attempt == 0) {
            publication.answered(key, done.outcome);
            return done.outcome;
        }
        publication.executed(key, done.attempt);
        publication.took(key, Event.Took.Part.CLAIM, done.claimed - done.begun);
        publication.took(key, Event.Took.Part.EXECUTE, done.acted - done.begun);
        publication.took(key, Event.Took.Part.SETTLE, registry.time().nanos() - done.acted);
        return done.outcome;
    }
}
