package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ShutdownSignalException;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Publishes messages and waits for the broker's confirms. Each channel has one message at a time, so that it is clear which message the
 * broker confirms, returns, or closes the channel for. Channels are opened as they are needed and used again. Any number of threads.
 */
final class Publisher implements AutoCloseable {
    private static final Duration CONFIRM_MAX = Duration.ofSeconds(10);
    /** For opening a channel, the confirm, and closing the channel. After it the connection is cut, and with it all its publishes. */
    private static final Duration PUBLISH_MAX = Duration.ofSeconds(15);
    /** A large message gets more time: over a slow network it would never arrive, and cut off the others each time. */
    private static final int BYTES_PER_MILLI_MIN = 1 << 10;

    /** Replies with which a broker closes a channel before it has routed the message. */
    private static final Set<Integer> REFUSALS =
            Set.of(AMQP.CONTENT_TOO_LARGE, AMQP.ACCESS_REFUSED, AMQP.NOT_FOUND, AMQP.PRECONDITION_FAILED);

    private final Connections connections;
    private final String name;

    // Guarded by this.
    private @Nullable CompletableFuture<BrokerConnection> connection;
    private boolean closed;

    /** What is published, and where to. */
    private record Message(Destination to, AMQP.BasicProperties properties, byte[] body) {
        /** How long the broker may take to confirm it. */
        Duration confirmMax() {
            return CONFIRM_MAX.plus(transfer());
        }

        /** How long publishing it may take: to write it, and then to confirm it. */
        Duration limit() {
            return PUBLISH_MAX.plus(transfer()).plus(transfer());
        }

        private Duration transfer() {
            return Duration.ofMillis(body.length / BYTES_PER_MILLI_MIN);
        }
    }

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
        BrokerConnection used;
        try {
            used = connection();
        } catch (IOException e) {
            return new Doubtful("no connection: " + e);
        }
        Message message = new Message(to, properties, body);
        CompletableFuture<Void> published = used.cutAfter(message.limit());
        try {
            return publish(used, message);
        } catch (IOException | ShutdownSignalException e) {
            return new Doubtful("no channel: " + e);
        } finally {
            published.complete(null);
        }
    }

    private static Answer publish(BrokerConnection connection, Message message)
            throws IOException, InterruptedException {
        Channel channel = connection.borrow();
        Answer answer = new Doubtful("interrupted");
        try {
            answer = publish(channel, message);
        } finally {
            if (answer instanceof Confirmed) {
                connection.giveBack(channel);
            } else {
                // Something may still arrive on it.
                abort(channel);
            }
        }
        return answer;
    }

    private static Answer publish(Channel channel, Message message) throws InterruptedException {
        AtomicReference<@Nullable String> returned = new AtomicReference<>();
        channel.clearReturnListeners();
        channel.addReturnListener(back -> returned.set(back.getReplyCode() + " " + back.getReplyText()));
        try {
            Destination to = message.to;
            channel.basicPublish(to.exchange(), to.routingKey(), true, message.properties, message.body);
            boolean confirmed = channel.waitForConfirms(message.confirmMax().toMillis());
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
            return new Doubtful("no confirm within " + message.confirmMax());
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

    /** The connection, opened if there is none. Others wait for the thread that opens it, without the lock and not longer than for a publish. */
    private BrokerConnection connection() throws IOException, InterruptedException {
        CompletableFuture<BrokerConnection> opening;
        boolean opens;
        synchronized (this) {
            if (closed) {
                throw new IOException("it is closed");
            }
            CompletableFuture<BrokerConnection> last = connection;
            opens = last == null || isBroken(last);
            opening = last == null || opens ? new CompletableFuture<>() : last;
            connection = opening;
        }
        if (opens) {
            open(opening);
        }
        try {
            return opening.get(PUBLISH_MAX.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IOException(String.valueOf(e.getCause()), e);
        } catch (TimeoutException e) {
            throw new IOException("another thread is still connecting", e);
        }
    }

    private static boolean isBroken(CompletableFuture<BrokerConnection> connection) {
        return connection.isDone()
                && (connection.isCompletedExceptionally() || !connection.join().isOpen());
    }

    private void open(CompletableFuture<BrokerConnection> opening) {
        try {
            opening.complete(connections.open(name));
        } catch (IOException | RuntimeException | Error e) {
            opening.completeExceptionally(e);
        }
    }

    private static void abort(Channel channel) {
        try {
            channel.abort();
        } catch (IOException | RuntimeException e) {
            // It is closed already, or its connection is.
        }
    }

    /** A connection that is just being opened is closed by the thread that opens it. */
    @Override
    public void close() {
        CompletableFuture<BrokerConnection> last;
        synchronized (this) {
            closed = true;
            last = connection;
        }
        if (last != null) {
            var unused = last.thenAccept(BrokerConnection::close);
        }
    }
}
