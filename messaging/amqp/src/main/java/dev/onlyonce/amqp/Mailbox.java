package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the broker has delivered on a channel, until it is taken. The prefetch bounds it. The client's threads fill it, and one thread takes.
 */
final class Mailbox extends DefaultConsumer {
    private final BlockingQueue<Delivery> arrived = new LinkedBlockingQueue<>();
    private volatile @Nullable String ended;

    Mailbox(Channel channel) {
        super(channel);
    }

    @Override
    public void handleDelivery(String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
        arrived.add(new Delivery(envelope, properties, body));
    }

    @Override
    public void handleCancel(String tag) {
        ended = "the broker cancelled the consumer: the queue was deleted, or its node is down";
    }

    @Override
    public void handleShutdownSignal(String tag, ShutdownSignalException signal) {
        ended = "the channel was closed: " + signal.getMessage();
    }

    /**
     * Takes all that has arrived, in order; waits for the first.
     *
     * @throws IOException if nothing more can arrive. What has arrived and was not taken is delivered again elsewhere
     */
    List<Delivery> take(Duration max) throws IOException, InterruptedException {
        Delivery first = arrived.poll(max.toNanos(), TimeUnit.NANOSECONDS);
        String why = ended;
        if (why != null) {
            throw new IOException(why);
        }
        List<Delivery> all = new ArrayList<>();
        if (first != null) {
            all.add(first);
            arrived.drainTo(all);
        }
        return all;
    }
}
