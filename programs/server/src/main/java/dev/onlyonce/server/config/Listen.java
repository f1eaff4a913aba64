package dev.onlyonce.server.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where and how clients are let in.
 *
 * @param host the address to bind
 * @param port the port; 0 for one that the system chooses
 * @param tls certificate and key; none for plain text
 * @param http2 whether HTTP/2 is offered, by ALPN: it needs TLS
 * @param ioUring whether sockets, also those to upstreams, are served by io_uring instead of epoll
 * @param limits what a client may take
 * @param trustedProxies whose {@code X-Forwarded-*} and {@code Forwarded} headers are believed and extended; everybody
 *     else's are replaced
 */
public record Listen(
        String host,
        int port,
        @Nullable Tls tls,
        boolean http2,
        boolean ioUring,
        Limits limits,
        List<Network> trustedProxies) {

    /** A longer request line gets 414. Just over what RFC 9112 asks every server to take: a longer one hardly gets through other proxies. */
    public static final int REQUEST_LINE_BYTES_MAX = 8 << 10;

    /** Certificate and private key, both PEM. */
    public record Tls(Path certificate, Path key) {}

    /**
     * What a client may take.
     *
     * @param connectionsMax more are closed as they come
     * @param headerBytesMax larger heads get 431
     * @param headerTimeout within which a new connection must have sent its first whole head, and an idle one its next
     * @param idleTimeout how long an exchange may go without a byte in either direction
     * @param bodyTimeout within which a protected request must have sent its whole body
     * @param bufferBytesMax how much memory all clients together may pin; requests for more get 503
     * @param drainGrace how long everybody is still served after SIGTERM, while load balancers look elsewhere
     * @param drainTimeout how long open exchanges may take then
     */
    public record Limits(
            int connectionsMax,
            int headerBytesMax,
            Duration headerTimeout,
            Duration idleTimeout,
            Duration bodyTimeout,
            int bufferBytesMax,
            Duration drainGrace,
            Duration drainTimeout) {

        /** What suits most. */
        public static Limits standard() {
            return new Limits(
                    20_000,
                    32 << 10,
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(75),
                    Duration.ofSeconds(60),
                    (int) Math.min(Integer.MAX_VALUE, Runtime.getRuntime().maxMemory() / 4),
                    Duration.ofSeconds(5),
                    Duration.ofSeconds(30));
        }
    }

    /** Plain text on this address, standard limits, nobody trusted. */
    public static Listen plain(String host, int port) {
        return new Listen(host, port, null, true, false, Limits.standard(), List.of());
    }
}
