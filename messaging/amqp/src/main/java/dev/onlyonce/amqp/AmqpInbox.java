package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Address;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.ShutdownSignalException;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageDecoder;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.messages.adapter.ConsumerThread;
import dev.onlyonce.messages.adapter.InboxBuilder;
import dev.onlyonce.messages.adapter.MessageDispatcher;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes a queue of RabbitMQ or another broker of AMQP 0-9-1, and applies each message once for its group. Any number of nodes consume
 * one queue.
 *
 * <p>Each has a thread and a connection of its own from {@link #start} to {@link #close}; for more threads, build more. A connection that
 * breaks is replaced. Safe for any number of threads.
 */
public final class AmqpInbox extends ConsumerThread {
    /** Between two connections, when one broke. */
    private static final RetryLimits REPLACING =
            new RetryLimits(1, Duration.ofSeconds(1), Duration.ofSeconds(10), Duration.ZERO);

    private static final Logger log = LoggerFactory.getLogger(AmqpInbox.class);

    private final Connections connections;
    private final Source source;
    private final MessageDispatcher<Delivery> dispatcher;
    private final MessageDispatcher.Rules rules;

    /** Used by the thread alone: standing by is logged once. */
    private boolean standsBy;

    private AmqpInbox(Connections connections, Source source, MessageDispatcher.Rules rules, Destination deadLetters) {
        this(connections, source, rules, new MessageDispatcher<>(rules, deadLetters(connections, rules, deadLetters)));
    }

    private AmqpInbox(
            Connections connections,
            Source source,
            MessageDispatcher.Rules rules,
            MessageDispatcher<Delivery> dispatcher) {
        super("onlyonce-amqp-" + rules.group(), dispatcher);
        this.connections = connections;
        this.source = source;
        this.rules = rules;
        this.dispatcher = dispatcher;
    }

    private static DeadLetterQueue deadLetters(
            Connections connections, MessageDispatcher.Rules rules, Destination deadLetters) {
        Publisher publisher = new Publisher(connections, "onlyonce " + rules.group() + ", dead letters");
        return new DeadLetterQueue(publisher, deadLetters, rules.group());
    }

    /**
     * Starts to build one.
     *
     * @param factory how to connect: host, credentials, virtual host, TLS. It is copied
     */
    public static <T> Builder<T> builder(Onlyonce once, ConnectionFactory factory, MessageDecoder<T> decoder) {
        return new Builder<>(once, factory, decoder);
    }

    @Override
    protected void consume() {
        int failures = 0;
        while (!isClosing()) {
            failures = consumeUntilBroken(failures);
        }
    }

    /** Returns how many connections broke one after the other. */
    private int consumeUntilBroken(int failuresBefore) {
        long begun = rules.time().nanos();
        try {
            consumeOnce();
            return 0;
        } catch (IOException | RuntimeException | Error e) {
            boolean lasted = rules.time().nanos() - begun > REPLACING.longest().toNanos();
            int failures = lasted ? 1 : failuresBefore + 1;
            replace(e, failures);
            return failures;
        }
    }

    private void consumeOnce() throws IOException {
        try (BrokerConnection connection = connections.open("onlyonce " + rules.group())) {
            while (!isClosing()) {
                Channel channel = connection.connection().createChannel();
                new ConsumeLoop(channel, source, dispatcher).run(() -> !isClosing());
                // What has arrived and was not taken is delivered again, in its order.
                channel.close();
            }
        } catch (TimeoutException e) {
            throw new IOException("the broker does not answer", e);
        }
    }

    private void replace(Throwable e, int failures) {
        if (isClosing()) {
            return;
        }
        if (source.exclusive() && isRefused(e)) {
            if (!standsBy) {
                log.info("Stands by for {}: {}", source.queue(), e.getCause() == null ? e : e.getCause());
            }
            standsBy = true;
            pause(REPLACING.first());
            return;
        }
        standsBy = false;
        Duration pause = REPLACING.pause(failures);
        log.error("The consumer of {} broke and is replaced in {}", source.queue(), pause, e);
        pause(pause);
    }

    private static boolean isRefused(Throwable e) {
        Throwable cause = e instanceof ShutdownSignalException ? e : e.getCause();
        if (!(cause instanceof ShutdownSignalException signal)) {
            return false;
        }
        // RabbitMQ closes the channel, Qpid the connection.
        Method reason = signal.getReason();
        return (reason instanceof AMQP.Channel.Close channel && channel.getReplyCode() == AMQP.ACCESS_REFUSED)
                || (reason instanceof AMQP.Connection.Close all && all.getReplyCode() == AMQP.ACCESS_REFUSED);
    }

    /**
     * Builds an {@link AmqpInbox}.
     *
     * @param <T> the messages' values
     */
    public static final class Builder<T> extends InboxBuilder<T, Builder<T>, AmqpInbox> {
        private static final int PREFETCH = 500;
        /** What AMQP can say. */
        private static final int PREFETCH_MAX = 65_535;

        private final ConnectionFactory factory;
        private List<Address> addresses = List.of();
        private @Nullable String queue;
        private @Nullable String group;
        private @Nullable String orderBy;
        private @Nullable Destination deadLetters;
        private int prefetch = PREFETCH;
        private boolean exclusive;

        private Builder(Onlyonce once, ConnectionFactory factory, MessageDecoder<T> decoder) {
            super(once, decoder);
            this.factory = factory;
        }

        /** What to consume. The queue must exist. */
        public Builder<T> queue(String queue) {
            this.queue = queue;
            return this;
        }

        /** Whose effects these are: each group applies each message once. The queue's name by default. */
        public Builder<T> group(String group) {
            this.group = group;
            return this;
        }

        /** The nodes of a cluster, e.g. {@code "rabbit1:5672,rabbit2:5672"}; the factory's host and port by default. */
        public Builder<T> addresses(String addresses) {
            this.addresses = List.of(Address.parseAddresses(addresses));
            return this;
        }

        /**
         * How many messages are delivered before the first of them must be acknowledged, and thus the largest batch; 500 by default. A
         * message that waits for its next try counts too.
         */
        public Builder<T> prefetch(int prefetch) {
            this.prefetch = prefetch;
            return this;
        }

        /**
         * Keeps messages with the same value of a header in order, also while one of them is tried again. {@code routing-key} and the
         * other properties count as headers. None by default. A queue with several consumers has no order to keep: see
         * {@link #exclusive}.
         */
        public Builder<T> orderBy(String header) {
            this.orderBy = header;
            return this;
        }

        /**
         * Consumes while no other consumer does; the others stand by. For classic queues whose order matters. RabbitMQ's quorum queues do not
         * enforce it: declare them with {@code x-single-active-consumer} instead. Not for a classic queue that is declared so: RabbitMQ then
         * refuses every exclusive consumer, and all stand by.
         */
        public Builder<T> exclusive() {
            this.exclusive = true;
            return this;
        }

        /** Where dead letters go: {@code exchange/routingKey} or the name of a queue; the queue {@code <queue>.dead} by default. */
        public Builder<T> deadLetterTo(String destination) {
            this.deadLetters = Destination.of(destination);
            return this;
        }

        @Override
        protected Builder<T> self() {
            return this;
        }

        @Override
        protected String group() {
            String name = group == null ? queue : group;
            if (queue == null || name == null) {
                throw new IllegalArgumentException("queue must be given");
            }
            if (prefetch < 1 || prefetch > PREFETCH_MAX) {
                throw new IllegalArgumentException("prefetch must be 1 to " + PREFETCH_MAX + ": " + prefetch);
            }
            return name;
        }

        @Override
        protected AmqpInbox build(MessageDispatcher.Rules rules) {
            String consumed = String.valueOf(queue);
            refuseCoordinates(rules.reader().ids(), consumed);
            Destination dead = deadLetters == null ? Destination.queue(consumed + ".dead") : deadLetters;
            return new AmqpInbox(
                    new Connections(factory, addresses),
                    new Source(consumed, prefetch, orderBy, exclusive),
                    rules,
                    dead);
        }

        /** A message that has nothing but coordinates shows whether they are used. */
        private static void refuseCoordinates(MessageId ids, String queue) {
            ReceivedMessage bare = new ReceivedMessage(queue, "coordinates", List.of(), new byte[0]);
            boolean used;
            try {
                used = ids.find(bare)
                        .filter(id -> id.id().equals("coordinates"))
                        .isPresent();
            } catch (RuntimeException e) {
                // The application's own source wants more of a message.
                used = false;
            }
            if (used) {
                throw new IllegalArgumentException(
                        "MessageId.coordinates() cannot be used: AMQP delivers a message again with other coordinates");
            }
        }
    }
}
