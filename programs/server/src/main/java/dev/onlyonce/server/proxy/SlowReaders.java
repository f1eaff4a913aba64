package dev.onlyonce.server.proxy;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Clients of one event loop that do not read what was written for them. What they pin is part of the budget; they are cut off
 * when they stand still for the idle time-out, or for a moment while memory is short. Not thread-safe: for its event loop only.
 *
 * <p>A connection stands still when its socket takes no more. One of HTTP/2 can keep its socket empty and grant no window, so
 * there the streams are watched too.
 */
final class SlowReaders {
    /** About what a connection holds when it takes no more: the high-water mark of its channel. */
    private static final int STALLED_BYTES = 64 << 10;

    private static final long HTTP2_CANCEL = 8;

    private final MemoryBudget memory;
    private final LongSupplier nanos;
    private final long idleNanos;
    private final Set<StalledConnection> connections = new HashSet<>();
    private final Map<HttpServerRequest, Stream> streams = new HashMap<>();

    SlowReaders(MemoryBudget memory, LongSupplier nanos, Duration idleMax) {
        this.memory = memory;
        this.nanos = nanos;
        this.idleNanos = idleMax.toNanos();
    }

    /** Watches a connection as long as it lives. */
    void watch(HttpConnection connection) {
        if (connection instanceof ConnectionBase base) {
            base.channel().pipeline().addFirst(new StalledConnection(base.channel()));
        }
    }

    private final class StalledConnection extends ChannelInboundHandlerAdapter {
        private final Channel channel;
        private long since;

        private StalledConnection(Channel channel) {
            this.channel = channel;
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) throws Exception {
            if (channel.isWritable()) {
                moves();
            } else if (connections.add(this)) {
                since = nanos.getAsLong();
                memory.force(STALLED_BYTES);
            }
            super.channelWritabilityChanged(context);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) throws Exception {
            moves();
            super.channelInactive(context);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) {
            moves();
        }

        private void moves() {
            if (connections.remove(this)) {
                memory.release(STALLED_BYTES);
            }
        }
    }

    private static final class Stream {
        private long bytes;
        private long since;
    }

    /** Writes a part of a streamed response. */
    Future<Void> write(HttpServerRequest request, Buffer chunk) {
        Future<Void> written = request.response().write(chunk);
        if (request.version() != HttpVersion.HTTP_2 || written.isComplete()) {
            return written;
        }
        int bytes = chunk.length();
        Stream stream = streams.computeIfAbsent(request, it -> new Stream());
        if (stream.bytes == 0) {
            stream.since = nanos.getAsLong();
        }
        stream.bytes += bytes;
        memory.force(bytes);
        return written.onComplete(done -> {
            memory.release(bytes);
            stream.bytes -= bytes;
            stream.since = nanos.getAsLong();
            if (stream.bytes == 0) {
                streams.remove(request);
            }
        });
    }

    /** Cuts off those that stood still for too long; to be called every second or so. */
    void look() {
        long now = nanos.getAsLong();
        long max = memory.isShort() ? MemoryBudget.PATIENCE_NANOS : idleNanos;
        List<StalledConnection> lateConnections = new ArrayList<>();
        connections.forEach(connection -> {
            if (now - connection.since > max) {
                lateConnections.add(connection);
            }
        });
        List<HttpServerRequest> lateStreams = new ArrayList<>();
        streams.forEach((request, stream) -> {
            if (now - stream.since > max) {
                lateStreams.add(request);
            }
        });
        lateConnections.forEach(connection -> cut(connection.channel));
        lateStreams.forEach(SlowReaders::cut);
        memory.cut(lateConnections.size() + lateStreams.size());
    }

    /** Ends the exchange without waiting until the client has read what was written; its HTTP/2 connection lives on. */
    static void cut(HttpServerRequest request) {
        if (request.version() == HttpVersion.HTTP_2) {
            request.response().reset(HTTP2_CANCEL);
        } else {
            cut(request.connection());
        }
    }

    /** Closes without waiting until the client has read what was written, as an ordinary close does. */
    static void cut(HttpConnection connection) {
        if (connection instanceof ConnectionBase base) {
            cut(base.channel());
        } else {
            connection.close();
        }
    }

    private static void cut(Channel channel) {
        // The system would go on trying to deliver what it has.
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        // Below all handlers: they would wait, and encrypted connections would send a farewell.
        var unused = channel.pipeline().firstContext().close();
    }
}
