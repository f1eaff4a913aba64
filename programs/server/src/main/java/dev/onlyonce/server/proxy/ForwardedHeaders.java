package dev.onlyonce.server.proxy;

import dev.onlyonce.server.config.Network;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which header lines are passed on, and what the next server learns about the client. */
final class ForwardedHeaders {
    private static final Set<String> HOP_BY_HOP = Set.of(
            "connection",
            "http2-settings",
            "keep-alive",
            "proxy-authenticate",
            "proxy-authorization",
            "proxy-connection",
            "te",
            "transfer-encoding",
            "upgrade");
    private static final Set<String> OF_PROXIES =
            Set.of("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto");
    private static final String VIA = "onlyonce";

    private final List<Network> trusted;
    private final ReservedHeaders reserved;

    ForwardedHeaders(List<Network> trusted, ReservedHeaders reserved) {
        this.trusted = trusted;
        this.reserved = reserved;
    }

    /** The request's header lines for the upstream, without {@code Host}. */
    MultiMap ofRequest(HttpServerRequest request) {
        String peer = request.remoteAddress().hostAddress();
        boolean believed = isTrusted(peer);
        MultiMap out = HttpHeaders.headers();
        copy(request.headers(), out, believed, peer);
        String te = request.getHeader(HttpHeaderNames.TE);
        if (te != null && te.toLowerCase(Locale.ROOT).contains("trailers")) {
            out.set(HttpHeaderNames.TE, "trailers");
        }
        HostAndPort authority = request.authority();
        String proto = request.isSSL() ? "https" : "http";
        append(out, "x-forwarded-for", peer);
        if (!out.contains("x-forwarded-proto")) {
            out.set("x-forwarded-proto", proto);
        }
        if (authority != null && !out.contains("x-forwarded-host")) {
            out.set("x-forwarded-host", authority.toString());
        }
        append(out, "forwarded", "for=" + node(peer) + ";proto=" + proto + host(authority));
        append(out, "via", (request.version() == HttpVersion.HTTP_2 ? "2 " : "1.1 ") + VIA);
        return out;
    }

    boolean isTrusted(String peer) {
        for (Network network : trusted) {
            if (network.contains(peer)) {
                return true;
            }
        }
        return false;
    }

    private void copy(MultiMap in, MultiMap out, boolean believed, String peer) {
        Set<String> named = namedByConnection(in);
        for (Map.Entry<String, String> line : in) {
            String name = line.getKey().toLowerCase(Locale.ROOT);
            boolean dropped = HOP_BY_HOP.contains(name)
                    || (named.contains(name) && !reserved.keeps(name))
                    || name.equals("host")
                    || name.startsWith(":")
                    || reserved.drops(name, peer)
                    || (!believed && OF_PROXIES.contains(name));
            if (dropped) {
                continue;
            }
            if (name.equals("cookie") && out.contains("cookie")) {
                // HTTP/2 may send it in pieces, HTTP/1.1 may not.
                out.set("cookie", out.get("cookie") + "; " + line.getValue());
            } else {
                out.add(line.getKey(), line.getValue());
            }
        }
    }

    /** The response's header lines for the client. */
    static void ofResponse(MultiMap in, MultiMap out) {
        Set<String> named = namedByConnection(in);
        for (Map.Entry<String, String> line : in) {
            String name = line.getKey();
            String lower = name.toLowerCase(Locale.ROOT);
            if (!HOP_BY_HOP.contains(lower) && !named.contains(lower) && !name.startsWith(":")) {
                out.add(name, line.getValue());
            }
        }
    }

    /** What the {@code Connection} lines name, in lower case. */
    static Set<String> namedByConnection(MultiMap headers) {
        List<String> values = headers.getAll(HttpHeaderNames.CONNECTION);
        // Almost always there is none, or one that names nothing that would be passed on.
        if (values.isEmpty() || (values.size() == 1 && values.get(0).equalsIgnoreCase("keep-alive"))) {
            return Set.of();
        }
        Set<String> names = new HashSet<>();
        for (String value : values) {
            for (String name : value.split(",")) {
                names.add(name.trim().toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }

    private static void append(MultiMap headers, String name, String value) {
        List<String> before = headers.getAll(name);
        headers.set(name, before.isEmpty() ? value : String.join(", ", before) + ", " + value);
    }

    private static String node(String address) {
        return address.indexOf(':') >= 0 ? "\"[" + address + "]\"" : address;
    }

    private static String host(@Nullable HostAndPort authority) {
        return authority == null ? "" : ";host=\"" + authority + "\"";
    }
}
