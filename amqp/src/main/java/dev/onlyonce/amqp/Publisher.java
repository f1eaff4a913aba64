package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Publishes messages and waits for the broker's confirms. Each channel has one message at a time, so that it is clear which message the
 * broker confirms, returns, or closes the channel for. Channels are opened as they are needed and used again. Any number of threads.
 */
final class Publisher implements AutoCloseable {
    private static final Duration CONFIRM_MAX = Duration.ofSeconds(10);
    /** Replies with which a broker closes a channel before it has routed the message. */
    private static final Set<Integer> REFUSALS =
            Set.of(AMQP.CONTENT_TOO_LARGE, AMQP.ACCESS_REFUSED, AMQP.NOT_FOUND, AMQP.PRECONDITION_FAILED);

    private final Connections connections;
    private final String name;
    private final Deque<Channel> idle = new ArrayDeque<>();
    private @Nullable Connection connection;
    private boolean closed;

    /** The broker's answer. */
    sealed interface Answer {}

    /** All queues to which it was routed have it, on disk where they are durable. */
    record Confirmed() implements Answer {}

    /** Proven: no queue has it. */
    record Refused(String why) implements Answer {}

    /** Proven: nothing was sent, because it does not fit into AMQP's frames and fields. */
    record Unsendable(String why) implements Answer {}

    /** A queue may have it. */
    record Doubtful(String why) implements Answer {}

    Publisher(Connections connections, String name) {
        this.connections = connections;
        this.name = name;
    }

    /** Publishes with {@code mandatory}: a message that no queue takes is refused, not dropped. */
    Answer publish(Destination to, AMQP.BasicProperties properties, byte[] body) throws InterruptedException {
        Channel channel;
        try {
            channel = borrow();
        } catch (IOException | ShutdownSignalException e) {
            return new Doubtful("no connection: " + e);
        }
        Answer answer = new Doubtful("interrupted");
        try {
            answer = publish(channel, to, properties, body);
        } finally {
            giveBack(channel, answer);
        }
        return answer;
    }

    private static Answer publish(Channel channel, Destination to, AMQP.BasicProperties properties, byte[] body)
            throws InterruptedException {
        AtomicReference<@Nullable String> returned = new AtomicReference<>();
        channel.clearReturnListeners();
        channel.addReturnListener(message -> returned.set(message.getReplyCode() + " " + message.getReplyText()));
        try {
            channel.basicPublish(to.exchange(), to.routingKey(), true, properties, body);
            boolean confirmed = channel.waitForConfirms(CONFIRM_MAX.toMillis());
            if (!confirmed) {
                // RabbitMQ returns a message before its confirm, Qpid after it: a round trip brings it.
                channel.basicQos(0);
            }
            String why = returned.get();
            if (why != null) {
                return new Refused("no queue takes it: " + why);
            }
            return confirmed ? new Confirmed() : new Doubtful("the broker did not take it (nack)");
        } catch (TimeoutException e) {
            return new Doubtful("no confirm within " + CONFIRM_MAX);
        } catch (IllegalArgumentException e) {
            return new Unsendable(String.valueOf(e.getMessage()));
        } catch (IOException | ShutdownSignalException e) {
            return closed(channel.getCloseReason(), e);
        }
    }

    private static Answer closed(@Nullable ShutdownSignalException reason, Exception e) {
        if (reason != null
                && !reason.isHardError()
                && reason.getReason() instanceof AMQP.Channel.Close close
                && REFUSALS.contains(close.getReplyCode())) {
            return new Refused(close.getReplyCode() + " " + close.getReplyText());
        }
        return new Doubtful("the connection was lost: " + e);
    }

    private synchronized Channel borrow() throws IOException {
        if (closed) {
            throw new IOException("it is closed");
        }
        Connection used = connection;
        if (used == null || !used.isOpen()) {
            idle.clear();
            used = connections.open(name);
            connection = used;
        }
        for (Channel channel = idle.poll(); channel != null; channel = idle.poll()) {
            if (channel.isOpen()) {
                return channel;
            }
        }
        Channel channel = used.createChannel();
        if (channel == null) {
            throw new IOException("the broker allows no more channels");
        }
        channel.confirmSelect();
        return channel;
    }

    /** After anything but a confirm something may still arrive on the channel. */
    private void giveBack(Channel channel, Answer answer) {
        if (answer instanceof Confirmed) {
            synchronized (this) {
                if (!closed && channel.getConnection() == connection) {
                    idle.push(channel);
                }
            }
        } else {
            abort(channel);
        }
    }

    private static void abort(Channel channel) {
        try {
            channel.abort();
        } catch (IOException | RuntimeException e) {
            // It is closed already, or its connection is.
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (connection != null) {
            Connections.close(connection);
        }
    }
}
