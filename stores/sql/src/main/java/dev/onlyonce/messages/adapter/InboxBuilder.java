package dev.onlyonce.messages.adapter;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Way;
import dev.onlyonce.messages.LeasedHandler;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.messages.TransactionalHandler;
import dev.onlyonce.sql.inbox.Inbox;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
    /** As long as a message that fails may keep those behind it waiting. */
    private static final Duration TRANSACTIONAL_MAX = RetryLimits.STANDARD.blockMax();
    /** As long as Kafka gives its consumers. An interrupt leaves the outcome unknown, so slow calls must fit in. */
    private static final Duration LEASED_MAX = Duration.ofMinutes(5);

    private final Onlyonce once;
    private final MessageDecoder<T> decoder;
    private MessageId ids = MessageId.cloudEvent();
    private RetryLimits retries = RetryLimits.STANDARD;
    private int bodyBytesMax = BODY_BYTES_MAX;
    private int concurrency = CONCURRENCY;
    private @Nullable Duration handlerMax;

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
    protected abstract I build(MessageDispatcher.Rules rules);

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

    /**
     * The longest time that a handler may take for a message; by default a minute for a transactional one, whose transaction holds locks,
     * and five minutes for a leased one. Then it is interrupted, and counts as failed: a transactional one is undone, and the outcome of a
     * leased one is unknown. Must be longer than what the handler calls may take. A handler that does not return when it is interrupted is
     * given up with its message, and its thread is replaced.
     */
    public final B handlerMax(Duration handlerMax) {
        this.handlerMax = handlerMax;
        return self();
    }

    /** How many messages of a topic a leased handler applies at once; 16 by default. */
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
        MessageReader<T> reader = reader();
        return build(rules(
                reader,
                new TransactionalApplication<>(Inbox.of(once), reader, handler, handlerMaxOr(TRANSACTIONAL_MAX))));
    }

    /**
     * Applies messages whose effects are outside the database, under leases, on any store.
     *
     * @param operation its policy has the lease, the retention and the reconciler
     * @throws IllegalArgumentException if a setting is wrong
     * @throws IllegalStateException if the operation is executed in another way
     */
    public final I leased(String operation, LeasedHandler<T> handler) {
        MessageReader<T> reader = reader();
        if (concurrency < 1) {
            throw new IllegalArgumentException("concurrency must be at least 1: " + concurrency);
        }
        Key.checkName("operation", operation);
        // Now: later each message would fail, and end as a dead letter.
        Policy policy = once.registry().policy(operation, Way.LEASED);
        Duration max = handlerMaxOr(LEASED_MAX.compareTo(policy.heldMax()) < 0 ? LEASED_MAX : policy.heldMax());
        if (max.compareTo(policy.heldMax()) > 0) {
            throw new IllegalArgumentException("handlerMax must be at most heldMax of the operation, "
                    + policy.heldMax() + ", after which its lease is no longer renewed: " + max);
        }
        LeasedApplication.Leasing<T> leasing =
                new LeasedApplication.Leasing<>(operation, heldFor(policy, max), handler, concurrency, max);
        return build(rules(reader, new LeasedApplication<>(once, leasing, reader)));
    }

    /** The claim of a handler that is given up must end as unknown, and its lease is renewed until then. */
    private static Policy heldFor(Policy policy, Duration handlerMax) {
        Duration lease = policy.terms().lease();
        Duration wanted = handlerMax.multipliedBy(2);
        Duration held = wanted.compareTo(lease) < 0 ? lease : wanted;
        return held.compareTo(policy.heldMax()) < 0
                ? policy.toBuilder().heldMax(held).build()
                : policy;
    }

    private Duration handlerMaxOr(Duration standard) {
        Duration max = handlerMax == null ? standard : handlerMax;
        if (max.isNegative() || max.isZero() || max.compareTo(Policy.HELD_MAX) > 0) {
            throw new IllegalArgumentException(
                    "handlerMax must be positive and at most " + Policy.HELD_MAX + ": " + max);
        }
        return max;
    }

    private MessageReader<T> reader() {
        if (bodyBytesMax < 0) {
            throw new IllegalArgumentException("bodyBytesMax must not be negative: " + bodyBytesMax);
        }
        return new MessageReader<>(group(), ids, decoder, bodyBytesMax);
    }

    private MessageDispatcher.Rules rules(MessageReader<T> reader, Application application) {
        return new MessageDispatcher.Rules(application, reader, retries, once.registry());
    }
}
