package dev.onlyonce.server.proxy;

import dev.onlyonce.server.config.Listen;
import io.netty.channel.ChannelPipeline;
import io.vertx.core.http.Http1ServerConfig;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.impl.http1.Http1ServerConnection;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client connections of one event loop: no more than allowed, none that waits without end. A connection without an open
 * exchange must send a whole head in time, however slowly it sends its bytes. Not thread-safe: for its event loop only.
 */
final class Clients {
    private static final Logger log = LoggerFactory.getLogger(Clients.class);

    private final Listen.Limits limits;
    private final LongSupplier nanos;
    private final AtomicInteger total;
    private final SlowReaders readers;
    private final Map<HttpConnection, Client> clients = new HashMap<>();
    private boolean leaving;
    private boolean draining;

    Clients(Listen.Limits limits, LongSupplier nanos, AtomicInteger total, MemoryBudget memory) {
        this.limits = limits;
        this.nanos = nanos;
        this.total = total;
        this.readers = new SlowReaders(memory, nanos, limits.idleTimeout());
    }

    private static final class Client {
        private int open;
        private boolean closing;
        private boolean last;
        private long idleSince;
    }

    void connected(HttpConnection connection) {
        if (total.incrementAndGet() > limits.connectionsMax()) {
            total.decrementAndGet();
            connection.close();
            return;
        }
        Client client = new Client();
        client.idleSince = nanos.getAsLong();
        clients.put(connection, client);
        // Without a handler Vert.x logs as an error that a client hung up.
        connection.exceptionHandler(failure -> log.debug("A client's connection failed", failure));
        connection.closeHandler(closed -> {
            total.decrementAndGet();
            clients.remove(connection);
        });
        if (connection instanceof Http1ServerConnection http1) {
            harden(http1);
        }
        readers.watch(connection);
    }

    private void harden(Http1ServerConnection connection) {
        ChannelPipeline pipeline = connection.channel().pipeline();
        pipeline.replace(
                StrictDecoder.NAME,
                StrictDecoder.NAME,
                new StrictDecoder(new Http1ServerConfig()
                        .setMaxInitialLineLength(Listen.REQUEST_LINE_BYTES_MAX)
                        .setMaxHeaderSize(limits.headerBytesMax())));
    }

    void begun(HttpServerRequest request) {
        Client client = clients.get(request.connection());
        if (client != null) {
            client.open++;
        }
    }

    void ended(HttpServerRequest request) {
        Client client = clients.get(request.connection());
        if (client != null) {
            client.open--;
            client.idleSince = nanos.getAsLong();
            if (client.open == 0 && (draining || client.last)) {
                request.connection().close();
            }
        }
    }

    /** From now on each connection of HTTP/1.x ends with its next answer. */
    void leave() {
        leaving = true;
    }

    /** Whether an answer is the last one on its connection, and the client must be told. */
    boolean isLeaving(HttpServerRequest request) {
        return leaving && request.version() != HttpVersion.HTTP_2;
    }

    /** The client was told that the connection ends with this answer. */
    void last(HttpServerRequest request) {
        Client client = clients.get(request.connection());
        if (client != null) {
            client.closing = true;
            client.last = true;
        }
    }

    SlowReaders readers() {
        return readers;
    }

    /** Closes connections as their last exchange ends. HTTP/2 clients get a notice, but few of them hang up. */
    void drain() {
        leaving = true;
        draining = true;
        List<HttpConnection> idle = new ArrayList<>();
        clients.forEach((connection, client) -> {
            if (client.open == 0) {
                idle.add(connection);
            }
        });
        idle.forEach(HttpConnection::close);
    }

    /** Nothing more that comes on this connection is looked at; on one of HTTP/2, what other streams bring is. */
    void closing(HttpServerRequest request) {
        Client client = clients.get(request.connection());
        if (client != null && request.version() != HttpVersion.HTTP_2) {
            client.closing = true;
        }
    }

    boolean isClosing(HttpServerRequest request) {
        Client client = clients.get(request.connection());
        return client != null && client.closing;
    }

    /** The connection is a tunnel from now on, and no business of HTTP. */
    void tunnelled(HttpServerRequest request) {
        clients.remove(request.connection());
    }

    /** The connection's own handler is not called for one that became a tunnel. */
    void tunnelClosed() {
        total.decrementAndGet();
    }

    void closeIdle() {
        long now = nanos.getAsLong();
        List<HttpConnection> late = new ArrayList<>();
        clients.forEach((connection, client) -> {
            boolean noHead = client.open == 0
                    && now - client.idleSince > limits.headerTimeout().toNanos();
            if (noHead) {
                late.add(connection);
            }
        });
        late.forEach(HttpConnection::close);
        readers.look();
    }
}
