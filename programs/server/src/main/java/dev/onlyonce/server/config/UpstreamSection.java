package dev.onlyonce.server.config;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One of {@code upstreams}. */
final class UpstreamSection {
    private static final Duration SHORTEST = Duration.ofMillis(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int MANY = 1_000_000;

    private final Section section;

    UpstreamSection(Section section) {
        this.section = section;
    }

    @Nullable
    Upstream read() {
        section.required("url", "http://127.0.0.1:9000");
        URI url = section.optional("url", ConfigFile::url);
        String name = section.text("name", "default");
        List<String> paths = paths();
        Upstream.Pool pool = pool();
        Upstream.Timeouts timeouts = timeouts();
        boolean keepHost = section.flag("keep-host", true);
        boolean honoursKey = section.flag("honours-key", false);
        Authorities authorities = authorities(section.section("tls"), url);
        section.end();
        return url == null ? null : new Upstream(name, url, paths, pool, timeouts, keepHost, honoursKey, authorities);
    }

    private List<String> paths() {
        List<String> paths = section.texts("paths");
        for (String path : paths) {
            if (!path.startsWith("/") || path.contains("*") || path.contains("{")) {
                section.wrong("paths", "\"" + path + "\" is not the beginning of a path; write for example /payments");
            }
        }
        return paths;
    }

    private Upstream.Pool pool() {
        Upstream.Pool usual = Upstream.Pool.standard();
        return new Upstream.Pool(
                section.number("connections-max", usual.connectionsMax(), 1, MANY),
                section.number("queue-max", usual.queueMax(), 0, MANY),
                section.duration("keep-idle", usual.idle(), Duration.ofSeconds(1), HOUR),
                section.flag("http2", usual.http2()));
    }

    private Upstream.Timeouts timeouts() {
        Upstream.Timeouts usual = Upstream.Timeouts.standard();
        return new Upstream.Timeouts(
                section.duration("connect-timeout", usual.connect(), SHORTEST, HOUR),
                section.duration("response-timeout", usual.response(), SHORTEST, HOUR),
                section.duration("idle-timeout", usual.idle(), SHORTEST, HOUR));
    }

    private static @Nullable Authorities authorities(@Nullable Section tls, @Nullable URI url) {
        if (tls == null) {
            return null;
        }
        Authorities authorities = tls.fromFile("ca", Authorities::read);
        if (!tls.has("ca")) {
            tls.wrong("\"ca\" is missing; write for example ca: ca.pem, or remove tls to trust what the JVM trusts");
        }
        if (url != null && !"https".equalsIgnoreCase(url.getScheme())) {
            tls.wrong("an upstream at http:// shows no certificate; write https:// in its url, or remove tls");
        }
        tls.end();
        return authorities;
    }
}
