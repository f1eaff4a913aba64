package dev.onlyonce.amqp;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Delivery;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.adapter.MessageDispatcher;
import dev.onlyonce.messages.adapter.PendingMessage;
import dev.onlyonce.messages.adapter.PendingMessages;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Consumes one channel, on one thread.
 *
 * <ol>
 *   <li>What has arrived is held. The prefetch bounds how much: the broker delivers no more until messages are acknowledged.
 *   <li>The messages that are due are handed to threads of the {@link MessageDispatcher}. This one waits for them for a short while.
 *   <li>Those that are done, and those that are given up and whose dead letters the broker has confirmed, are acknowledged. If that fails, or the
 *       process dies before, they are delivered again and recognised.
 *   <li>The others stay unacknowledged. They run on, or wait with growing pauses.
 * </ol>
 *
 * <p>It ends when the channel does. What it holds is forgotten: the broker delivers all that was not acknowledged again.
 */
final class ConsumeLoop {
    private static final Duration IDLE_MAX = Duration.ofMillis(500);
    private static final Duration SILENCE_MAX = Duration.ofSeconds(20);

    private static final Logger log = LoggerFactory.getLogger(ConsumeLoop.class);

    private final Channel channel;
    private final Source source;
    private final MessageDispatcher<Delivery> dispatcher;
    private final Mailbox mailbox;
    private final PendingMessages<Delivery> held = new PendingMessages<>();
    /** Delivery tags begin with 1 on each channel; this makes them unique. */
    private final String name = UUID.randomUUID().toString();

    ConsumeLoop(Channel channel, Source source, MessageDispatcher<Delivery> dispatcher) {
        this.channel = channel;
        this.source = source;
        this.dispatcher = dispatcher;
        this.mailbox = new Mailbox(channel);
    }

    /**
     * Returns when it is to end, or when it has no message and none came for a while: not every broker says that the queue was deleted, and a channel that has
     * lost its queue hears nothing, also when there is a new one of the same name.
     *
     * @throws IOException when the channel has ended
     */
    void run(BooleanSupplier running) throws IOException {
        channel.basicQos(source.prefetch());
        channel.basicConsume(source.queue(), false, "", false, source.exclusive(), null, mailbox);
        long heardNanos = dispatcher.now();
        while (running.getAsBoolean() && !(held.isEmpty() && dispatcher.now() - heardNanos >= SILENCE_MAX.toNanos())) {
            take().forEach(this::receive);
            List<PendingMessage<Delivery>> due = held.due(dispatcher.now());
            done(dispatcher.work(due));
            if (!due.isEmpty()) {
                heardNanos = dispatcher.now();
            }
        }
        done(dispatcher.finish());
    }

    /** Those of an earlier channel are not to be acknowledged on this one. */
    private void done(Set<PendingMessage<Delivery>> messages) throws IOException {
        Set<PendingMessage<Delivery>> done = held.those(messages);
        held.done(done);
        acknowledge(done);
    }

    private List<Delivery> take() throws IOException {
        try {
            return mailbox.take(idle());
        } catch (InterruptedException e) {
            // A time limit of a handler may interrupt too late.
            log.warn("The thread that consumes {} was interrupted, and goes on", source.queue(), e);
            return List.of();
        }
    }

    private Duration idle() {
        return Duration.ofNanos(Math.min(IDLE_MAX.toNanos(), held.idleNanos(dispatcher.now())));
    }

    private void receive(Delivery delivery) {
        String coordinates = name + "-" + delivery.getEnvelope().getDeliveryTag();
        ReceivedMessage message = Deliveries.message(source.queue(), coordinates, delivery);
        held.add(dispatcher.receive(message, Deliveries.order(message, source.orderBy()), delivery));
    }

    /**
     * One acknowledgement for all that are done before the first that is not, and one for each of the others. Only tags that were not
     * acknowledged before may be used: with another, the broker takes all for acknowledged.
     */
    private void acknowledge(Set<PendingMessage<Delivery>> done) throws IOException {
        PendingMessage<Delivery> open = held.first();
        long end = open == null ? Long.MAX_VALUE : tag(open);
        long last = done.stream()
                .mapToLong(ConsumeLoop::tag)
                .filter(tag -> tag < end)
                .max()
                .orElse(0);
        if (last > 0) {
            channel.basicAck(last, true);
        }
        for (PendingMessage<Delivery> pending : done) {
            if (tag(pending) > end) {
                channel.basicAck(tag(pending), false);
            }
        }
    }

    private static long tag(PendingMessage<Delivery> pending) {
        return pending.record().getEnvelope().getDeliveryTag();
    }
}
