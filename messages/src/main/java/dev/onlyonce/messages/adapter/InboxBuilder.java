package dev.onlyonce.messages.adapter;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Way;
import dev.onlyonce.messages.LeasedHandler;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.messages.TransactionalHandler;
import dev.onlyonce.sql.inbox.Inbox;

/**
 * What all consumers can be told.
 *
 * @param <T> the messages' values
 * @param <B> the builder itself
 * @param <I> what it builds
 */
public abstract class InboxBuilder<T, B extends InboxBuilder<T, B, I>, I> {
    private static final int BODY_BYTES_MAX = 1 << 20;
    private static final int CONCURRENCY = 16;

    private final Onlyonce once;
    private final MessageDecoder<T> decoder;
    private MessageId ids = MessageId.cloudEvent();
    private RetryLimits retries = RetryLimits.STANDARD;
    private int bodyBytesMax = BODY_BYTES_MAX;
    private int concurrency = CONCURRENCY;

    protected InboxBuilder(Onlyonce once, MessageDecoder<T> decoder) {
        this.once = once;
        this.decoder = decoder;
    }

    /** This builder. */
    protected abstract B self();

    /**
     * The consumer group: each applies each message once.
     *
     * @throws IllegalArgumentException if a setting is wrong
     */
    protected abstract String group();

    /** Builds the consumer. */
    protected abstract I build(Desk.Rules rules);

    /** Where ids come from; CloudEvents by default. A message without an id becomes a dead letter. */
    public final B id(MessageId ids) {
        this.ids = ids;
        return self();
    }

    /** How often and for how long a message that fails is tried again. */
    public final B retries(RetryLimits retries) {
        this.retries = retries;
        return self();
    }

    /** The largest body that is applied; 1 MiB by default. */
    public final B bodyBytesMax(int bodyBytesMax) {
        this.bodyBytesMax = bodyBytesMax;
        return self();
    }

    /** How many messages a leased handler applies at once; 16 by default. */
    public final B concurrency(int concurrency) {
        this.concurrency = concurrency;
        return self();
    }

    /**
     * Applies messages in transactions of the database with the entries.
     *
     * @throws IllegalArgumentException if a setting is wrong, or the {@link Onlyonce} is not built on a SQL store
     */
    public final I transactional(TransactionalHandler<T> handler) {
        Reading<T> reading = reading();
        return build(rules(reading, new TransactionalApplication<>(Inbox.of(once), reading, handler)));
    }

    /**
     * Applies messages whose effects are outside the database, under leases, on any store.
     *
     * @param operation its policy has the lease, the retention and the reconciler
     * @throws IllegalArgumentException if a setting is wrong
     * @throws IllegalStateException if the operation is executed in another way
     */
    public final I leased(String operation, LeasedHandler<T> handler) {
        Reading<T> reading = reading();
        if (concurrency < 1) {
            throw new IllegalArgumentException("concurrency must be at least 1: " + concurrency);
        }
        Key.checkName("operation", operation);
        // Now: later each message would fail, and end as a dead letter.
        once.registry().policy(operation, Way.LEASED);
        LeasedApplication.Leasing<T> leasing = new LeasedApplication.Leasing<>(operation, handler, concurrency);
        return build(rules(reading, new LeasedApplication<>(once, leasing, reading)));
    }

    private Reading<T> reading() {
        if (bodyBytesMax < 0) {
            throw new IllegalArgumentException("bodyBytesMax must not be negative: " + bodyBytesMax);
        }
        return new Reading<>(group(), ids, decoder, bodyBytesMax);
    }

    private Desk.Rules rules(Reading<T> reading, Application application) {
        return new Desk.Rules(application, reading, retries, once.registry());
    }
}
