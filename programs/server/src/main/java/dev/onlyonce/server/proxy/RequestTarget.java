package dev.onlyonce.server.proxy;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks for, after the checks that keep two servers from reading it differently.
 *
 * @param path as it was sent, without the query
 * @param query what follows the question mark; none if there is no question mark
 * @param host whom the client wanted to speak to
 */
public record RequestTarget(
        String path, @Nullable String query, @Nullable HostAndPort host) {

    /** Thrown for a request that must not be passed on. */
    public static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        private final int status;

        Refused(int status, String message) {
            super(message, null, false, false);
            this.status = status;
        }

        /** What to answer. */
        public int status() {
            return status;
        }
    }

    /** Checks and reads the target. */
    public static RequestTarget of(HttpServerRequest request) throws Refused {
        HttpMethod method = request.method();
        if (method.equals(HttpMethod.CONNECT)) {
            throw new Refused(405, "CONNECT is not supported");
        }
        List<String> hosts = request.headers().getAll(HttpHeaderNames.HOST);
        if (hosts.size() > 1) {
            throw new Refused(400, "more than one Host header");
        }
        if (hosts.isEmpty() && request.version() == HttpVersion.HTTP_1_1) {
            throw new Refused(400, "no Host header");
        }
        if (!hosts.isEmpty() && !hosts.get(0).isEmpty() && HostAndPort.parseAuthority(hosts.get(0), -1) == null) {
            throw new Refused(400, "the Host header is malformed");
        }
        String uri = request.uri();
        if (uri.isEmpty() || uri.charAt(0) != '/') {
            uri = withoutAuthority(uri, request);
        }
        HostAndPort host = request.authority();
        if (!isVisibleAscii(uri)) {
            throw new Refused(400, "the request target has a character that must be percent-encoded");
        }
        if (uri.indexOf('#') >= 0) {
            throw new Refused(400, "the request target has a fragment");
        }
        int mark = uri.indexOf('?');
        return mark < 0
                ? new RequestTarget(uri, null, host)
                : new RequestTarget(uri.substring(0, mark), uri.substring(mark + 1), host);
    }

    /** Other characters than these would reach the upstream as others than were sent. */
    private static boolean isVisibleAscii(String uri) {
        for (int i = 0; i < uri.length(); i++) {
            char c = uri.charAt(i);
            if (c <= ' ' || c >= 0x7f) {
                return false;
            }
        }
        return true;
    }

    /** From the absolute form of a target, which servers must accept though clients of a gateway do not send it. */
    private static String withoutAuthority(String uri, HttpServerRequest request) throws Refused {
        if (uri.equals("*") && request.method().equals(HttpMethod.OPTIONS)) {
            return uri;
        }
        int start =
                uri.regionMatches(true, 0, "http://", 0, 7) ? 7 : uri.regionMatches(true, 0, "https://", 0, 8) ? 8 : -1;
        if (start < 0 || request.version() == HttpVersion.HTTP_2) {
            throw new Refused(400, "the request target must be a path");
        }
        int end = start;
        while (end < uri.length() && uri.charAt(end) != '/' && uri.charAt(end) != '?') {
            end++;
        }
        String authority = uri.substring(start, end);
        if (authority.isEmpty() || HostAndPort.parseAuthority(authority, -1) == null) {
            throw new Refused(400, "the request target has a malformed host");
        }
        // RFC 9112: the target wins. Written back, so that nobody sees another host than this one from here on.
        request.headers().set(HttpHeaderNames.HOST, authority);
        String path = uri.substring(end);
        return path.startsWith("/") ? path : "/" + path;
    }

    /** Path and query as they go into a request line. */
    public String uri() {
        return query == null ? path : path + "?" + query;
    }
}
