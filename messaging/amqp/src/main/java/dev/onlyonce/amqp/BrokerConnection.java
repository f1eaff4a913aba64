package dev.onlyonce.amqp;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection that can be cut. The client writes without a time limit: when the broker stops reading, as RabbitMQ does when memory or disk
 * run low, all writers wait, and so does whoever closes the connection. Only closing the socket frees them. Any number of threads.
 */
final class BrokerConnection implements AutoCloseable {
    private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

    private final Connection connection;
    /** Null if the client uses Netty or NIO, which do not block their writers. */
    private final @Nullable Socket socket;

    private final Deque<Channel> idle = new ConcurrentLinkedDeque<>();
    private volatile boolean cut;

    BrokerConnection(Connection connection, @Nullable Socket socket) {
        this.connection = connection;
        this.socket = socket;
    }

    Connection connection() {
        return connection;
    }

    boolean isOpen() {
        return !cut && connection.isOpen();
    }

    /** A channel with confirms, for one user at a time. */
    Channel borrow() throws IOException {
        for (Channel channel = idle.poll(); channel != null; channel = idle.poll()) {
            if (channel.isOpen()) {
                return channel;
            }
        }
        Channel channel = connection.createChannel();
        if (channel == null) {
            throw new IOException("the broker allows no more channels");
        }
        channel.confirmSelect();
        return channel;
    }

    /** Takes back a channel on which nothing more can arrive. */
    void giveBack(Channel channel) {
        idle.push(channel);
    }

    /** Cuts the connection after this time, unless the returned future is completed before. */
    CompletableFuture<Void> cutAfter(Duration max) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        var unused = done.orTimeout(max.toNanos(), TimeUnit.NANOSECONDS).exceptionally(late -> {
            cut = true;
            // Timers of the whole JVM share this thread.
            Thread cutter = new Thread(this::cut, "onlyonce-amqp-cut");
            cutter.setDaemon(true);
            cutter.start();
            return null;
        });
        return done;
    }

    private void cut() {
        if (socket == null) {
            connection.abort((int) CLOSE_MAX.toMillis());
            return;
        }
        try (socket) {
            // Closing must not wait for what cannot be written; with TLS it would.
            socket.setSoLinger(true, 0);
        } catch (IOException e) {
            // It is closed already.
        }
    }

    /** Closes it, within a bound and without complaints. The broker handles what was sent before, if it still reads. */
    @Override
    public void close() {
        CompletableFuture<Void> closed = cutAfter(CLOSE_MAX);
        try {
            connection.abort((int) CLOSE_MAX.toMillis());
        } finally {
            closed.complete(null);
        }
    }
}
