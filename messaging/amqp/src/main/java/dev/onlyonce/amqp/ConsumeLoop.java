package dev.onlyonce.amqp;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Delivery;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.messages.adapter.Desk;
import dev.onlyonce.messages.adapter.Lane;
import dev.onlyonce.messages.adapter.Letter;
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
 *   <li>What has arrived joins the lane. The prefetch bounds the lane: the broker delivers no more until messages are acknowledged.
 *   <li>The messages that are due are handed to threads of the {@link Desk}. This one waits for them for a short while.
 *   <li>Those that are done leave the lane. Those that are given up leave it when the broker has confirmed their dead letters. The others
 *       stay, unacknowledged, and run on or wait with growing pauses.
 *   <li>Last, those that are done are acknowledged. If that fails, or the process dies before, they are delivered again and recognised.
 * </ol>
 *
 * <p>It ends when the channel does. Its lane ends with it: the broker delivers all that was not acknowledged again.
 */
final class ConsumeLoop {
    private static final Duration IDLE_MAX = Duration.ofMillis(500);
    private static final Duration SILENCE_MAX = Duration.ofSeconds(20);

    private static final Logger log = LoggerFactory.getLogger(ConsumeLoop.class);

    private final Channel channel;
    private final Source source;
    private final Desk<Delivery> desk;
    private final Mailbox mailbox;
    private final Lane<Delivery> lane = new Lane<>();
    /** Delivery tags begin with 1 on each channel; this makes them unique. */
    private final String name = UUID.randomUUID().toString();

    ConsumeLoop(Channel channel, Source source, Desk<Delivery> desk) {
        this.channel = channel;
        this.source = source;
        this.desk = desk;
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
        long heardNanos = desk.now();
        while (running.getAsBoolean() && !(lane.isEmpty() && desk.now() - heardNanos >= SILENCE_MAX.toNanos())) {
            take().forEach(this::receive);
            List<Letter<Delivery>> due = lane.due(desk.now());
            done(desk.work(due));
            if (!due.isEmpty()) {
                heardNanos = desk.now();
            }
        }
        done(desk.finish());
    }

    /** Those of an earlier channel are not to be acknowledged on this one. */
    private void done(Set<Letter<Delivery>> letters) throws IOException {
        Set<Letter<Delivery>> done = lane.those(letters);
        lane.done(done);
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
        return Duration.ofNanos(Math.min(IDLE_MAX.toNanos(), lane.idleNanos(desk.now())));
    }

    private void receive(Delivery delivery) {
        String coordinates = name + "-" + delivery.getEnvelope().getDeliveryTag();
        ReceivedMessage message = Deliveries.message(source.queue(), coordinates, delivery);
        lane.add(desk.receive(message, Deliveries.order(message, source.orderBy()), delivery));
    }

    /**
     * One acknowledgement for all that are done before the first that is not, and one for each of the others. Only tags that were not
     * acknowledged before may be used: with another, the broker takes all for acknowledged.
     */
    private void acknowledge(Set<Letter<Delivery>> done) throws IOException {
        Letter<Delivery> open = lane.first();
        long end = open == null ? Long.MAX_VALUE : tag(open);
        long last = done.stream()
                .mapToLong(ConsumeLoop::tag)
                .filter(tag -> tag < end)
                .max()
                .orElse(0);
        if (last > 0) {
            channel.basicAck(last, true);
        }
        for (Letter<Delivery> letter : done) {
            if (tag(letter) > end) {
                channel.basicAck(tag(letter), false);
            }
        }
    }

    private static long tag(Letter<Delivery> letter) {
        return letter.record().getEnvelope().getDeliveryTag();
    }
}
