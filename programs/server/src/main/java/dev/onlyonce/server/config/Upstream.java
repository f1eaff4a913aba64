package dev.onlyonce.server.config;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A service that requests are passed on to.
 *
 * @param name for operators
 * @param url scheme, host and port; a path is put in front of every request's path
 * @param paths which requests it gets: those whose path starts so; empty for all that no other upstream takes
 * @param pool its connections
 * @param timeouts when to give up
 * @param keepHost whether it sees the client's {@code Host}, or its own
 * @param honoursKey whether it recognises a repeated {@code Idempotency-Key} itself, so that an unknown outcome may be found
 *     out by asking again with the same key
 * @param authorities who must have signed its certificate; none for those that the JVM trusts
 */
public record Upstream(
        String name,
        URI url,
        List<String> paths,
        Pool pool,
        Timeouts timeouts,
        boolean keepHost,
        boolean honoursKey,
        @Nullable Authorities authorities) {

    /**
     * Connections to an upstream, for each event loop.
     *
     * @param connectionsMax the most connections, on all event loops together
     * @param queueMax how many requests may wait for one
     * @param idle how long an unused one is kept. Shorter than the upstream keeps it, or requests are sent on connections
     *     that are just being closed; Node.js closes after 5 s
     * @param http2 whether to speak HTTP/2 (by ALPN with https, by prior knowledge with http)
     */
    public record Pool(int connectionsMax, int queueMax, Duration idle, boolean http2) {
        /** What suits most. */
        public static Pool standard() {
            return new Pool(512, 10_000, Duration.ofSeconds(4), false);
        }
    }

    /**
     * When to give up.
     *
     * @param connect on connecting: nothing was sent
     * @param response on the head of the response, counted from when the request was sent
     * @param idle on the next byte of a body, either way
     */
    public record Timeouts(Duration connect, Duration response, Duration idle) {
        /** What suits most. */
        public static Timeouts standard() {
            return new Timeouts(Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofSeconds(30));
        }
    }

    /** All requests to this URL, with standard pool and time-outs. */
    public static Upstream of(URI url) {
        return new Upstream("default", url, List.of(), Pool.standard(), Timeouts.standard(), true, false, null);
    }

    /** The same service at another URL. */
    public Upstream at(URI other) {
        return new Upstream(name, other, paths, pool, timeouts, keepHost, honoursKey, authorities);
    }

    /** Whether requests go over TLS. */
    public boolean isSecure() {
        return "https".equalsIgnoreCase(url.getScheme());
    }

    /** The port, by the scheme if the URL has none. */
    public int port() {
        if (url.getPort() >= 0) {
            return url.getPort();
        }
        return isSecure() ? 443 : 80;
    }

    /** The path in front of every request's path, without a slash at its end. */
    public String prefix() {
        String path = url.getRawPath();
        if (path == null) {
            return "";
        }
        return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    /** The candidate whose upstream takes the path: the one with the longest matching prefix. */
    public static <T> @Nullable T forPath(List<T> candidates, Function<T, Upstream> upstream, String path) {
        T best = null;
        int longest = -1;
        for (T candidate : candidates) {
            int length = upstream.apply(candidate).takes(path);
            if (length > longest) {
                best = candidate;
                longest = length;
            }
        }
        return best;
    }

    /** How much of the path this upstream's longest matching prefix covers; -1 if it does not take the path. */
    private int takes(String path) {
        int longest = paths.isEmpty() ? 0 : -1;
        for (String start : paths) {
            boolean whole = path.length() == start.length()
                    || start.endsWith("/")
                    || (path.length() > start.length() && path.charAt(start.length()) == '/');
            if (path.startsWith(start) && whole) {
                longest = Math.max(longest, start.length());
            }
        }
        return longest;
    }
}
