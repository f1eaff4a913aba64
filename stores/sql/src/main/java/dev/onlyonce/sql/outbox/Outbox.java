package dev.onlyonce.sql.outbox;

import dev.onlyonce.Codec;
import dev.onlyonce.Event;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.internal.entries.BoundedCount;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.sql.transactions.TransactionConflict;
import dev.onlyonce.sql.transactions.TransactionalAction;
import dev.onlyonce.store.DeadLetterBox;
import dev.onlyonce.store.OutboxCounts;
import dev.onlyonce.store.StoreException;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
 * <p>Close it before its {@link Onlyonce}, whose time drives the heartbeats of its rows. Safe for any number of threads.
 */
public final class Outbox implements DeadLetterBox, AutoCloseable {
    /** The largest payload unless configured otherwise: see {@link #BYTES_MAX}. */
    private static final int PAYLOAD_BYTES_MAX = 1 << 20;

    /** Payloads in hand: enough for a thousand of 64 KiB, and in a small heap no more than an eighth of it. */
    private static final long BYTES_MAX =
            Math.min(64L << 20, Runtime.getRuntime().maxMemory() / 8);

    /** How long a call that lasts waits for a lock at least: a time-out of this wait does not prove that it is a duplicate. */
    private static final Duration LASTING_WAIT_MAX = Duration.ofSeconds(2);

    private final OutboxContext context;
    private final Acceptance acceptance;
    /** For callers of {@link #deliverDue}. */
    private final RowTaker taker;

    private @Nullable OutboxWorker worker;
    private boolean closed;

    private Outbox(OutboxContext context) {
        this.context = context;
        this.acceptance = new Acceptance(context);
        this.taker = new RowTaker(context);
    }

    /**
     * An outbox that accepts, and delivers nothing: it has no handlers. With the operations, listeners, time and name of an
     * {@link Onlyonce}.
     *
     * @throws IllegalArgumentException if it is not built on a {@link SqlStore}
     */
    public static Outbox of(Onlyonce once) {
        return builder(once).build();
    }

    /**
     * Starts to build an outbox with handlers. With the operations, listeners, time and name of an {@link Onlyonce}.
     *
     * @throws IllegalArgumentException if it is not built on a {@link SqlStore}
     */
    public static Builder builder(Onlyonce once) {
        return new Builder(SqlStore.of(once, "Outbox").access(), once.registry());
    }

    /**
     * Accepts an operation in the caller's transaction. The result is stored as JSON.
     *
     * @throws TransactionConflict if the transaction must be rolled back and run again
     */
    public <T> Accepted<T> accept(
            Connection transaction, Key key, Fingerprint fingerprint, Class<T> result, OutboxCall call) {
        return accept(transaction, key, fingerprint, Codec.json(result), call);
    }

    /**
     * Accepts an operation in the caller's transaction. If it is {@link Accepted#isNew() new}, the caller makes its business
     * write in the same transaction and commits: then, and only then, a worker makes the call. A duplicate changes nothing and
     * does not harm the transaction. Listeners hear of it before the caller's commit. A call {@linkplain OutboxCall#untilTaken that
     * lasts} is not taken for a duplicate because somebody else holds a lock: it waits for two seconds or more, and then fails.
     *
     * @param transaction a connection with auto-commit off
     * @param codec reads the result that the handler has encoded
     * @throws IllegalArgumentException if the payload is larger than {@link Builder#payloadBytesMax}, or the operation's retention
     *     is shorter than the pauses between tries; nothing was written
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer, or a call that lasts has waited in vain for a lock; nothing was accepted
     */
    public <T> Accepted<T> accept(
            Connection transaction, Key key, Fingerprint fingerprint, Codec<T> codec, OutboxCall call) {
        Policy policy = policy(key);
        boolean patient = call.lasting() && policy.waitMax().compareTo(LASTING_WAIT_MAX) < 0;
        return accept(
                transaction,
                new Acceptance.Request<>(
                        key,
                        fingerprint,
                        patient ? policy.toBuilder().waitMax(LASTING_WAIT_MAX).build() : policy,
                        any -> call,
                        call.lasting()),
                codec);
    }

    /**
     * Accepts an operation whose business write makes the call. The action runs after the key is claimed, and only if the call
     * must be queued: for a new key, and for one whose row an operator has dropped after it was proven that nothing happened.
     *
     * @param transaction a connection with auto-commit off
     * @param codec reads the result that the handler has encoded
     * @param action makes the business write in the transaction and returns the call
     * @throws X what the action throws; the transaction is then as it was before this call
     * @throws IllegalArgumentException if the payload is larger than {@link Builder#payloadBytesMax}, or the operation's retention
     *     is shorter than the pauses between tries; nothing was written
     * @throws TransactionConflict if the transaction must be rolled back and run again
     * @throws StoreException if the database cannot answer; nothing was accepted
     */
    public <T, X extends Exception> Accepted<T> accept(
            Connection transaction,
            Key key,
            Fingerprint fingerprint,
            Codec<T> codec,
            TransactionalAction<OutboxCall, X> action)
            throws X {
        return accept(transaction, new Acceptance.Request<>(key, fingerprint, policy(key), action, false), codec);
    }

    private Policy policy(Key key) {
        return context.settings().registry().policy(key.operation(), Way.QUEUED);
    }

    private <T, X extends Exception> Accepted<T> accept(
            Connection transaction, Acceptance.Request<X> request, Codec<T> codec) throws X {
        Accepted<byte[]> accepted;
        try {
            accepted = acceptance.accept(transaction, request);
        } catch (StoreException e) {
            context.publish(new Event.StoreFailed(e));
            throw e;
        }
        return accepted.isNew()
                ? new Accepted.New<>()
                : new Accepted.Existing<>(accepted.outcome().map(codec::decode));
    }

    /**
     * Waits, after the commit, for the final outcome. The result is stored as JSON.
     *
     * @return empty if there is no such entry
     */
    public <T> Optional<Outcome<T>> await(Key key, Fingerprint fingerprint, Class<T> result, Duration max)
            throws InterruptedException {
        return await(key, fingerprint, Codec.json(result), max);
    }

    /**
     * Waits, after the commit, for the final outcome: {@link Outcome.Replayed} or {@link Outcome.Failed} if it came in time,
     * else {@link Outcome.InFlight} or {@link Outcome.Unknown}. Wakes the workers of this node first.
     *
     * @return empty if there is no such entry
     */
    public <T> Optional<Outcome<T>> await(Key key, Fingerprint fingerprint, Codec<T> codec, Duration max)
            throws InterruptedException {
        wake();
        return new OutcomeWait(context).await(key, fingerprint, max).map(outcome -> outcome.map(codec::decode));
    }

    /** Starts the workers of this node. */
    public synchronized void start() {
        if (closed) {
            throw new IllegalStateException("the outbox is closed");
        }
        if (worker == null) {
            worker = new OutboxWorker(context);
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
     * Takes the rows that are due, delivers and records them on the calling thread: for tests, and for programs with a schedule of their
     * own. May be called by many at once.
     *
     * @return how many rows that were
     */
    public int deliverDue() {
        return OutboxWorker.deliverDue(context, taker);
    }

    /**
     * For operators: dead letters, in the order of their ids, after the given one. Their payloads are left out, because many large ones
     * might not fit into memory; {@link #find} reads one.
     */
    public List<OutboxRow> listDead(long after, int limit) {
        return context.read(c -> context.table().listDead(c, after, limit));
    }

    @Override
    public List<Letter> letters(long after, int limit) {
        return listDead(after, limit).stream().map(OutboxRow::letter).toList();
    }

    @Override
    public Optional<Letter> letter(long id) {
        return listDead(id - 1, 1).stream()
                .filter(dead -> dead.id() == id)
                .flatMap(dead ->
                        context.read(c -> context.table().find(c, dead.key().entryId())).stream())
                .map(StoredRow::row)
                .filter(row -> row.id() == id)
                .map(OutboxRow::letter)
                .findFirst();
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
        return context.read(c -> context.table().backlog(c, max));
    }

    /**
     * The calls of this node that have not come back within the policy's {@code heldMax}, by topic: their threads were interrupted, and
     * still run. If it does not get empty again, a handler has no time-out; only a restart ends its threads.
     */
    public Map<String, Integer> hung() {
        OutboxWorker running = running();
        return running == null ? Map.of() : running.hung();
    }

    /** As the gauges show it, by the database's clock; each count stops at {@code max}. */
    @Override
    public OutboxCounts counts(int max) {
        return context.read(c -> BoundedCount.outbox(c, context.database(), max));
    }

    /** The row that is still to be delivered for a key. */
    public Optional<OutboxRow> find(Key key) {
        return context.read(c -> context.table().find(c, key.entryId())).stream()
                .map(StoredRow::row)
                .reduce((first, last) -> last);
    }

    /**
     * For operators: gives a dead letter all its tries again. It is still called only if its entry is retryable, or the
     * provider still honours the downstream key.
     *
     * @return whether it was a dead letter
     */
    @Override
    public boolean retry(long id, String who, String reason) {
        return new DeadLetters(context).retry(id, who, reason);
    }

    /**
     * For operators: forgets a dead letter. Its entry stays as it is, most likely unknown, and is the operator's to resolve.
     *
     * @return whether it was a dead letter
     */
    @Override
    public boolean drop(long id, String who, String reason) {
        return new DeadLetters(context).drop(id, who, reason);
    }

    /**
     * Stops taking rows, gives back those that have not been called, and waits within a bound for those that have. An outbox
     * that was closed cannot be started again.
     */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        stop();
    }

    /** As {@link #close}, but it can be started again. */
    public void stop() {
        OutboxWorker running;
        synchronized (this) {
            running = worker;
            worker = null;
        }
        if (running != null) {
            running.close();
        }
    }

    /** Builds an {@link Outbox}. */
    public static final class Builder {
        private final SqlAccess access;
        private final Registry registry;
        private final Map<String, DeliveryHandler> handlers = new HashMap<>();
        private Duration pendingMax = Duration.ofHours(1);
        private int triesMax = 10;
        private Duration backoffFirst = Duration.ofSeconds(1);
        private Duration backoffLongest = Duration.ofMinutes(5);
        private Duration parkFor = Duration.ofSeconds(30);
        private int concurrency = 32;
        private int rowsMax = 1000;
        private Duration pollEvery = Duration.ofMillis(100);
        private Duration closeWaitMax = Duration.ofSeconds(30);
        private int payloadBytesMax = PAYLOAD_BYTES_MAX;
        private long bytesMax = BYTES_MAX;

        private Builder(SqlAccess access, Registry registry) {
            this.access = access;
            this.registry = registry;
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

        /**
         * How many calls are made at once. Half of them are divided among the topics, one each at least: a topic whose calls hang leaves
         * the others theirs.
         */
        public Builder concurrency(int concurrency) {
            this.concurrency = concurrency;
            return this;
        }

        /** How many rows this node has in hand at most. Half of them are divided among the topics. */
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

        /** How many bytes of payloads this node has in hand at most: for tests. */
        Builder bytesMax(long bytesMax) {
            this.bytesMax = bytesMax;
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
            if (backoffFirst.isNegative() || backoffLongest.compareTo(backoffFirst) < 0 || parkFor.isNegative()) {
                throw new IllegalArgumentException(
                        "backoff must not be negative, and its longest pause not the shorter: " + backoffFirst + ", "
                                + backoffLongest + "; nor parkFor: " + parkFor);
            }
            OutboxSettings settings = new OutboxSettings(
                    registry,
                    pendingMax,
                    Map.copyOf(handlers),
                    new OutboxSettings.Tries(triesMax, backoffFirst, backoffLongest, parkFor),
                    new OutboxSettings.Load(concurrency, rowsMax, pollEvery, closeWaitMax, payloadBytesMax, bytesMax));
            // Throws if a retention is too short; for an operation that was not declared, accepting does.
            registry.declared(Way.QUEUED).forEach(operation -> settings.acceptTerms(registry.policy(operation)));
            return new Outbox(new OutboxContext(access, settings));
        }
    }
}
