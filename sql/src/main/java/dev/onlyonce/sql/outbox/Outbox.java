package dev.onlyonce.sql.outbox;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Answer;
import dev.onlyonce.Key;
import dev.onlyonce.Listener;
import dev.onlyonce.NodeName;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.sql.connections.SqlFailure;
import dev.onlyonce.sql.entries.AuditTable;
import dev.onlyonce.sql.entries.Database;
import dev.onlyonce.sql.entries.InTransaction;
import dev.onlyonce.sql.entries.NameCheck;
import dev.onlyonce.sql.entries.Sealing;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.TransactionalAction;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.io.Serial;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queued way to execute: write first, call later.
 *
 * <ol>
 *   <li>{@link #accept} puts a pending entry and a row into the caller's transaction, beside the business write: all commit
 *       together or not at all.
 *   <li>Workers, on any number of nodes, take the rows, claim the entries and call the topic's {@link DeliveryHandler}. All
 *       tries send the same downstream key.
 *   <li>The provider's answer is recorded on the row first. Then the business update, the entry's end and the row's end
 *       commit together.
 *   <li>A call that is proven to have had no effect is made again after a growing pause, and after many tries the entry
 *       fails. A call that nobody knows the outcome of makes the entry unknown, and is made again only for as long as the
 *       provider honours the downstream key; after that the row is a dead letter that waits for the reconciler or an
 *       operator, and goes on by itself when one of them has decided.
 * </ol>
 *
 * <p>Safe for any number of threads.
 */
public final class Outbox implements AutoCloseable {
    /** Each round lost means that another transaction ended in between and changed the entry. */
    private static final int ROUNDS_MAX = 8;

    /** The largest payload unless told otherwise: a node has {@code rowsMax} of them in memory. */
    private static final int PAYLOAD_BYTES_MAX = 1 << 20;

    /** How late a row that is due may be taken by a busy worker. */
    private static final Duration RETENTION_MARGIN = Duration.ofMinutes(1);

    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);
    private static final Duration POLL_FIRST = Duration.ofMillis(20);
    private static final Duration POLL_LONGEST = Duration.ofMillis(500);
    private static final Logger log = LoggerFactory.getLogger(Outbox.class);

    private final OutboxContext parts;
    /** For those who deliver on their own threads. */
    private final RowTaker intake;
    /** Ours to close, unless the caller has given one. */
    private final @Nullable Time ownTime;

    private @Nullable OutboxWorker worker;
    private boolean closed;

    private Outbox(OutboxContext parts, @Nullable Time ownTime) {
        this.parts = parts;
        this.intake = new RowTaker(parts);
        this.ownTime = ownTime;
    }

    /**
     * Accepts an operation in the caller's transaction. On {@link Accepted.New} the caller makes its business write in the
     * same transaction and commits: then, and only then, a worker makes the call. A duplicate changes nothing and does not
     * harm the transaction.
     *
     * @param transaction a connection with auto-commit off
     * @param topic which handler makes the call; with the key it makes the downstream key
     * @param payload what the handler needs
     * @throws IllegalArgumentException if the payload is larger than {@link Builder#payloadBytesMax}; nothing was written
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer; nothing was accepted
     */
    public Accepted accept(Connection transaction, Key key, Fingerprint fingerprint, String topic, byte[] payload) {
        return accept(transaction, key, fingerprint, topic, any -> payload);
    }

    /**
     * Accepts an operation whose business write makes the payload. The action runs after the key is claimed and only if the
     * call must be queued: for a new key, and for one whose row an operator has dropped after it was proven that nothing
     * happened.
     *
     * @param transaction a connection with auto-commit off
     * @param topic which handler makes the call; with the key it makes the downstream key
     * @param action makes the business write in the transaction and returns what the handler needs
     * @throws X what the action throws; the transaction is then as it was before this call
     * @throws IllegalArgumentException if the payload is larger than {@link Builder#payloadBytesMax}; nothing was written
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer; nothing was accepted
     */
    public <X extends Exception> Accepted accept(
            Connection transaction,
            Key key,
            Fingerprint fingerprint,
            String topic,
            TransactionalAction<byte[], X> action)
            throws X {
        NameCheck.check("tenant", key.tenant());
        NameCheck.check("operation", key.operation());
        NameCheck.check("topic", topic);
        Savepoint savepoint = Transactions.savepoint(transaction);
        try {
            Accepted accepted = accept(transaction, key, fingerprint, new Call<>(topic, action));
            transaction.releaseSavepoint(savepoint);
            return accepted;
        } catch (SQLException e) {
            SqlFailure failure = SqlFailure.of(parts.database().kind(), e);
            boolean back = Transactions.goBack(transaction, savepoint, e);
            if (failure.isWait() && back) {
                return new Accepted.Existing(new Outcome.InFlight<>(true, RETRY_AFTER));
            }
            throw Transactions.exception(failure, e);
        } catch (ActionFailed e) {
            Transactions.goBack(transaction, savepoint, e.thrown);
            throw e.<X>thrown();
        } catch (Throwable e) {
            Transactions.goBack(transaction, savepoint, e);
            throw e;
        }
    }

    /** Keeps the exceptions of the action apart from those of our own statements. */
    private static final class ActionFailed extends Exception {
        @Serial
        private static final long serialVersionUID = 1;

        private final Exception thrown;

        ActionFailed(Exception thrown) {
            super(null, thrown, false, false);
            this.thrown = thrown;
        }

        /** Safe: the action's signature allows it to throw this and nothing else. */
        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
        <X extends Exception> X thrown() {
            return (X) thrown;
        }
    }

    private record Call<X extends Exception>(String topic, TransactionalAction<byte[], X> action) {}

    private <X extends Exception> Accepted accept(
            Connection transaction, Key key, Fingerprint fingerprint, Call<X> call) throws SQLException, ActionFailed {
        InTransaction inside = parts.database().inside();
        EntryId id = key.entryId();
        ClaimRequest request = new ClaimRequest(
                id,
                key.operation(),
                fingerprint,
                UUID.randomUUID(),
                parts.settings().name(),
                parts.settings().acceptTerms(),
                State.PENDING);
        Duration waitMax = parts.settings().policy().waitMax();
        for (int round = 1; round <= ROUNDS_MAX; round++) {
            Optional<Integer> made = inside.insert(transaction, request, waitMax);
            if (made.isEmpty()) {
                Optional<Entry> found = inside.find(transaction, id).map(parts.sealing()::shown);
                if (found.isPresent()) {
                    return existing(transaction, key, fingerprint, found.get(), call);
                }
                made = inside.replace(transaction, request, waitMax);
            }
            if (made.isPresent()) {
                queue(transaction, id, call);
                return new Accepted.New();
            }
        }
        throw new StoreBusy("the entry changed hands " + ROUNDS_MAX + " times while being accepted", null);
    }

    private <X extends Exception> Accepted existing(
            Connection transaction, Key key, Fingerprint fingerprint, Entry entry, Call<X> call)
            throws SQLException, ActionFailed {
        Outcome<byte[]> outcome = answer(key, fingerprint, entry);
        boolean left = entry.state() == State.RETRYABLE && outcome instanceof Outcome.InFlight;
        if (left && parts.table().find(transaction, entry.id()).isEmpty()) {
            // An operator has dropped its row, and then it was proven that nothing had happened.
            queue(transaction, entry.id(), call);
        }
        return new Accepted.Existing(outcome);
    }

    private <X extends Exception> void queue(Connection transaction, EntryId id, Call<X> call)
            throws SQLException, ActionFailed {
        byte[] payload;
        try {
            payload = call.action.run(transaction);
        } catch (Exception e) {
            throw new ActionFailed(e);
        }
        int payloadBytesMax = parts.settings().load().payloadBytesMax();
        if (payload.length > payloadBytesMax) {
            throw new IllegalArgumentException("the payload has " + payload.length + " bytes, and " + payloadBytesMax
                    + " are allowed: store it elsewhere and put a reference here, or raise payloadBytesMax");
        }
        parts.table().insert(transaction, id, call.topic, payload);
    }

    /** Whatever is in flight here is a worker's business: the client is told to come back. */
    private static Outcome<byte[]> answer(Key key, Fingerprint fingerprint, Entry entry) {
        Outcome<byte[]> outcome = Answer.of(key, fingerprint, entry, RETRY_AFTER);
        return outcome instanceof Outcome.InFlight ? new Outcome.InFlight<>(true, RETRY_AFTER) : outcome;
    }

    /**
     * Waits, after the commit, for the final outcome: {@link Outcome.Replayed} or {@link Outcome.Failed} if it came in time,
     * else {@link Outcome.InFlight} or {@link Outcome.Unknown}. Wakes the workers of this node first.
     *
     * @return empty if there is no such entry
     */
    public Optional<Outcome<byte[]>> await(Key key, Fingerprint fingerprint, Duration max) throws InterruptedException {
        wake();
        EntryId id = key.entryId();
        Time time = parts.settings().time();
        long until = time.nanos() + max.toNanos();
        Duration pause = POLL_FIRST;
        CompletableFuture<Void> ended = parts.waiters().join(id);
        try {
            while (true) {
                boolean woken = ended.isDone();
                Optional<Outcome<byte[]>> now = find(id).map(entry -> answer(key, fingerprint, entry));
                Duration left = Duration.ofNanos(until - time.nanos());
                if (now.isEmpty() || !(now.get() instanceof Outcome.InFlight) || left.isNegative() || left.isZero()) {
                    return now;
                }
                CompletableFuture<Void> signal = woken ? new CompletableFuture<>() : ended;
                time.await(signal, pause.compareTo(left) < 0 ? pause : left);
                pause = pause.multipliedBy(2).compareTo(POLL_LONGEST) < 0 ? pause.multipliedBy(2) : POLL_LONGEST;
            }
        } finally {
            parts.waiters().leave(id, ended);
        }
    }

    private Optional<Entry> find(EntryId id) {
        return Optional.ofNullable(parts.calls()
                        .read(c -> parts.database().find(c, List.of(id)))
                        .get(id))
                .map(parts.sealing()::shown);
    }

    /** Starts the workers of this node. */
    public synchronized void start() {
        if (closed) {
            throw new IllegalStateException("the outbox is closed");
        }
        if (worker == null) {
            worker = new OutboxWorker(parts);
            worker.start();
        }
    }

    /** Lets the workers of this node look now: there is something new. */
    public void wake() {
        OutboxWorker running = running();
        if (running != null) {
            running.wake();
        }
    }

    private synchronized @Nullable OutboxWorker running() {
        return worker;
    }

    /**
     * Takes what is due, delivers and records it on the calling thread: for tests, and for programs with a schedule of their
     * own. May be called by many at once.
     *
     * @return how many rows that were
     */
    public int deliverDue() {
        return OutboxWorker.deliverDue(parts, intake);
    }

    /** For operators: dead letters, in the order of their ids, after the given one. */
    public List<OutboxRow> listDead(long after, int limit) {
        return parts.calls().read(c -> parts.table().listDead(c, after, limit));
    }

    /**
     * The rows that have not ended, for operators and health checks.
     *
     * @param waiting rows that are to be delivered, or are being delivered
     * @param dead rows that wait for the reconciler or an operator
     * @param oldestAt when the entry of the oldest row was accepted, by the database's clock; empty without rows
     */
    public record Backlog(int waiting, int dead, Optional<Instant> oldestAt) {}

    /** Counts the rows that have not ended; each count stops at {@code max}. */
    public Backlog backlog(int max) {
        return parts.calls().read(c -> parts.table().backlog(c, max));
    }

    /** The row that is still to be delivered for a key. */
    public Optional<OutboxRow> find(Key key) {
        return parts.calls().read(c -> parts.table().find(c, key.entryId())).stream()
                .map(OutboxTable.Stored::row)
                .reduce((first, last) -> last);
    }

    /**
     * For operators: gives a dead letter all its tries again. It is still called only if its entry is retryable, or the
     * provider still honours the downstream key.
     *
     * @return whether it was a dead letter
     */
    public boolean retry(long id, String who, String reason) {
        boolean changed = operate(
                id,
                who,
                "dead letter to be tried again: " + reason,
                c -> parts.table().retry(c, id));
        log.info("Dead letter {} to be tried again: {}, by {}: {}", id, changed, who, reason);
        return changed;
    }

    /**
     * For operators: forgets a dead letter. Its entry stays as it is, most likely unknown, and is the operator's to resolve.
     *
     * @return whether it was a dead letter
     */
    public boolean drop(long id, String who, String reason) {
        boolean changed = operate(
                id, who, "dead letter dropped: " + reason, c -> parts.table().drop(c, id));
        log.info("Dead letter {} dropped: {}, by {}: {}", id, changed, who, reason);
        return changed;
    }

    /** Changes a dead letter, and the audit of its entry says so. */
    private boolean operate(long id, String who, String why, Calls.Work<Boolean> change) {
        AuditTable audit = new AuditTable(parts.database());
        return parts.calls().transaction(c -> {
            audit.operated(c, id, AuditText.who(who), AuditText.why(why));
            boolean changed = change.run(c);
            if (!changed) {
                c.rollback();
            }
            return changed;
        });
    }

    /**
     * Stops taking rows, gives back those that have not been called, and waits within a bound for those that have. An outbox
     * that was closed cannot be started again.
     */
    @Override
    public void close() {
        OutboxWorker running;
        synchronized (this) {
            running = worker;
            worker = null;
            closed = true;
        }
        if (running != null) {
            running.close();
        }
        if (ownTime != null) {
            ownTime.close();
        }
    }

    /** Builds an {@link Outbox}. */
    public static final class Builder {
        private final Database database;
        private final Calls calls;
        private final Sealing sealing;
        private final Map<String, DeliveryHandler> handlers = new HashMap<>();
        private final List<Listener> listeners = new ArrayList<>();
        private Policy policy = Policy.standard();
        private Duration pendingMax = Duration.ofHours(1);
        private String name = NodeName.ofThisProcess();
        private @Nullable Time time;
        private int triesMax = 10;
        private Duration backoffFirst = Duration.ofSeconds(1);
        private Duration backoffLongest = Duration.ofMinutes(5);
        private Duration parkFor = Duration.ofSeconds(30);
        private int concurrency = 32;
        private int rowsMax = 1000;
        private Duration pollEvery = Duration.ofMillis(100);
        private Duration closeWaitMax = Duration.ofSeconds(30);
        private int payloadBytesMax = PAYLOAD_BYTES_MAX;

        public Builder(Database database, Calls calls, Sealing sealing) {
            this.database = database;
            this.calls = calls;
            this.sealing = sealing;
        }

        /** Lease of a worker, retention, tombstone, largest stored result. What becomes of a lost lease is always unknown. */
        public Builder policy(Policy policy) {
            this.policy = policy;
            return this;
        }

        /** How long an accepted entry may wait for its first worker before it fails (HTTP: 408); 1 hour by default. */
        public Builder pendingMax(Duration pendingMax) {
            this.pendingMax = pendingMax;
            return this;
        }

        /** Who makes the calls of a topic. Workers of this node take rows of their own topics only. */
        public Builder handler(String topic, DeliveryHandler handler) {
            handlers.put(topic, handler);
            return this;
        }

        /** Is told of every change. */
        public Builder listener(Listener listener) {
            listeners.add(listener);
            return this;
        }

        /** This node's name, for operators and the audit. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** Another source of time for waiting and heartbeats; the caller closes it. */
        public Builder time(Time time) {
            this.time = time;
            return this;
        }

        /** How often a call is tried before it is given up; 10 by default. */
        public Builder triesMax(int triesMax) {
            this.triesMax = triesMax;
            return this;
        }

        /** The pause after the first failure, which doubles with every try, and the longest. */
        public Builder backoff(Duration first, Duration longest) {
            this.backoffFirst = first;
            this.backoffLongest = longest;
            return this;
        }

        /** How often a dead letter is looked at, to see whether its entry has been resolved. */
        public Builder parkFor(Duration parkFor) {
            this.parkFor = parkFor;
            return this;
        }

        /** How many calls are made at once. */
        public Builder concurrency(int concurrency) {
            this.concurrency = concurrency;
            return this;
        }

        /** How many rows this node has in hand at most. */
        public Builder rowsMax(int rowsMax) {
            this.rowsMax = rowsMax;
            return this;
        }

        /** How often an idle worker looks for rows. */
        public Builder pollEvery(Duration pollEvery) {
            this.pollEvery = pollEvery;
            return this;
        }

        /** How long closing waits for calls that have not come back. */
        public Builder closeWaitMax(Duration closeWaitMax) {
            this.closeWaitMax = closeWaitMax;
            return this;
        }

        /** The largest payload that is accepted; 1 MiB by default. */
        public Builder payloadBytesMax(int payloadBytesMax) {
            this.payloadBytesMax = payloadBytesMax;
            return this;
        }

        /** Checks and builds; throws {@link IllegalArgumentException}. Call {@link Outbox#start} to start delivering. */
        public Outbox build() {
            if (triesMax < 1 || concurrency < 1 || rowsMax < 1) {
                throw new IllegalArgumentException("triesMax, concurrency and rowsMax must be at least 1");
            }
            if (payloadBytesMax < 0) {
                throw new IllegalArgumentException("payloadBytesMax must not be negative: " + payloadBytesMax);
            }
            checkTimes();
            NameCheck.check("name", name);
            Time ownTime = time == null ? Time.system() : null;
            OutboxSettings settings = new OutboxSettings(
                    policy,
                    pendingMax,
                    name,
                    time == null ? requireNonNull(ownTime) : time,
                    Map.copyOf(handlers),
                    List.copyOf(listeners),
                    new OutboxSettings.Tries(triesMax, backoffFirst, backoffLongest, parkFor),
                    new OutboxSettings.Load(concurrency, rowsMax, pollEvery, closeWaitMax, payloadBytesMax));
            OutboxTable table = new OutboxTable(database, sealing);
            return new Outbox(new OutboxContext(database, calls, table, sealing, settings, new Waiters()), ownTime);
        }

        /** A retryable entry expires, and its row with it: the next try must come before that, wherever it is due. */
        private void checkTimes() {
            if (backoffFirst.isNegative() || backoffLongest.compareTo(backoffFirst) < 0 || parkFor.isNegative()) {
                throw new IllegalArgumentException(
                        "backoff must not be negative, and its longest pause not the shorter: " + backoffFirst + ", "
                                + backoffLongest + "; nor parkFor: " + parkFor);
            }
            Duration longest = backoffLongest.compareTo(parkFor) < 0 ? parkFor : backoffLongest;
            Duration needed = longest.plus(policy.terms().lease()).plus(RETENTION_MARGIN);
            if (policy.terms().retention().compareTo(needed) < 0) {
                throw new IllegalArgumentException("the retention of "
                        + policy.terms().retention()
                        + " is shorter than the longest pause between two tries, the lease and " + RETENTION_MARGIN
                        + " together, " + needed + ": rows would be forgotten before they are tried again");
            }
        }
    }
}
