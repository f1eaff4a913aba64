package dev.onlyonce.sqs;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElseGet;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.adapter.ConsumerThread;
import dev.onlyonce.messages.adapter.InboxBuilder;
import dev.onlyonce.messages.adapter.MessageDispatcher;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;

/**
 * Consumes a queue of Amazon SQS, and applies each message once. Any number of nodes consume one queue.
 *
 * <p>Each has a thread of its own from {@link #start} to {@link #close}; for more threads, build more. The client is the caller's. Safe
 * for any number of threads.
 */
public final class SqsInbox extends ConsumerThread {
    private static final Logger log = LoggerFactory.getLogger(SqsInbox.class);

    private final SqsAsyncClient client;
    private final String queue;
    private final DeadLetterQueue deadLetters;
    private final PollLoop.Parts parts;

    private SqsInbox(SqsAsyncClient client, String queue, DeadLetterQueue deadLetters, PollLoop.Parts parts) {
        super("onlyonce-sqs-" + Queue.name(queue), parts.dispatcher());
        this.client = client;
        this.queue = queue;
        this.deadLetters = deadLetters;
        this.parts = parts;
    }

    /**
     * Starts to build one.
     *
     * @param client with timeouts that are longer than {@link Builder#longPoll}
     */
    public static <T> Builder<T> builder(Onlyonce once, SqsAsyncClient client, MessageDecoder<T> decoder) {
        return new Builder<>(once, client, decoder);
    }

    @Override
    protected void consume() {
        deadLetters.check();
        int failures = 0;
        while (!isClosing()) {
            try {
                Queue found = Queue.find(client, queue).join();
                failures = 0;
                new PollLoop(found, parts).run(closing());
            } catch (InterruptedException e) {
                // A time limit of a handler may interrupt too late.
                log.warn("The thread that consumes {} was interrupted, and goes on", queue, e);
            } catch (RuntimeException | Error e) {
                Duration pause = parts.rules().retries().pause(++failures);
                log.error("The consumer of {} broke and begins again in {}", queue, pause, e);
                pause(pause);
            }
        }
    }

    /**
     * Builds an {@link SqsInbox}.
     *
     * @param <T> the messages' values
     */
    public static final class Builder<T> extends InboxBuilder<T, Builder<T>, SqsInbox> {
        private static final int BATCH = 100;
        private static final Duration LONG_POLL = Duration.ofSeconds(5);
        /** The longest that SQS allows. */
        private static final Duration LONG_POLL_MAX = Duration.ofSeconds(20);

        private static final Duration VISIBILITY = Duration.ofSeconds(30);
        private static final Duration VISIBILITY_MIN = Duration.ofSeconds(1);

        private final SqsAsyncClient client;
        private @Nullable String queue;
        private @Nullable String group;
        private @Nullable String deadLetterQueue;
        private int batch = BATCH;
        private Duration longPoll = LONG_POLL;
        private Duration visibility = VISIBILITY;

        private Builder(Onlyonce once, SqsAsyncClient client, MessageDecoder<T> decoder) {
            super(once, decoder);
            this.client = client;
        }

        /** What to consume: the name or the URL of a queue. */
        public Builder<T> queue(String queue) {
            this.queue = queue;
            return this;
        }

        /** For whom each message is applied once; the queue's name by default. */
        public Builder<T> group(String group) {
            this.group = group;
            return this;
        }

        /** Where messages go that are given up, by name or URL; by default {@code <queue>-dead}, or {@code <name>-dead.fifo}. */
        public Builder<T> deadLetterQueue(String deadLetterQueue) {
            this.deadLetterQueue = deadLetterQueue;
            return this;
        }

        /** The largest batch, and the most messages that are held; 100 by default. */
        public Builder<T> batch(int batch) {
            this.batch = batch;
            return this;
        }

        /** How long a receive waits for messages, in whole seconds; 5 seconds by default, at most 20. */
        public Builder<T> longPoll(Duration longPoll) {
            this.longPoll = longPoll;
            return this;
        }

        /**
         * How long nobody else gets a message that was received; 30 seconds by default, at least one. It is extended while the message
         * is held. After a crash, what was held is delivered again when this time is over.
         */
        public Builder<T> visibility(Duration visibility) {
            this.visibility = visibility;
            return this;
        }

        @Override
        protected Builder<T> self() {
            return this;
        }

        @Override
        protected String group() {
            if (queue == null || batch < 1) {
                throw new IllegalArgumentException("queue must be given, and batch must be at least 1");
            }
            if (longPoll.isNegative() || longPoll.compareTo(LONG_POLL_MAX) > 0) {
                throw new IllegalArgumentException("longPoll must be at most " + LONG_POLL_MAX + ": " + longPoll);
            }
            if (visibility.compareTo(VISIBILITY_MIN) < 0 || visibility.compareTo(Queue.VISIBILITY_MAX) > 0) {
                throw new IllegalArgumentException("visibility must be at least " + VISIBILITY_MIN + " and at most "
                        + Queue.VISIBILITY_MAX + ": " + visibility);
            }
            return group == null ? Queue.name(queue) : group;
        }

        @Override
        protected SqsInbox build(MessageDispatcher.Rules rules) {
            String name = requireNonNull(queue);
            DeadLetterQueue dead = new DeadLetterQueue(
                    client,
                    requireNonNullElseGet(deadLetterQueue, () -> Queue.withSuffix(name, "-dead")),
                    rules.group());
            PollLoop.Limits limits = new PollLoop.Limits(batch, longPoll, visibility);
            return new SqsInbox(
                    client, name, dead, new PollLoop.Parts(new MessageDispatcher<>(rules, dead), rules, limits));
        }
    }
}
