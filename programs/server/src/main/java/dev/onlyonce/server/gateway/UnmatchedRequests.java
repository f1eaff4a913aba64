package dev.onlyonce.server.gateway;

import dev.onlyonce.http.admin.Operations;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.observe.Metrics;
import dev.onlyonce.store.Time;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * State-changing requests that no operation protects. Each is counted, and each kind of path is logged once, so that nobody
 * believes to be protected who is not. Thread-safe.
 */
final class UnmatchedRequests {
    /** Paths come from clients: somebody who tries out thousands must not fill the log. */
    static final int LOGGED_MAX = 100;

    private static final Logger log = LoggerFactory.getLogger(UnmatchedRequests.class);
    /** A segment that names one of many things: it has a digit or an encoded character, or is long. */
    private static final Pattern ID = Pattern.compile("(?<=/)(?:[^/]*[0-9%][^/]*|[^/]{25,})");

    private static final int TEMPLATE_CHARS_MAX = 200;

    private volatile Settings.Refusals refusals;
    private final Metrics metrics;
    private final Time time;
    private final Map<String, Seen> seen = new ConcurrentHashMap<>();

    /** How often requests of a kind came, and when last. */
    private static final class Seen {
        private final LongAdder count = new LongAdder();
        private volatile long lastMillis;
    }

    UnmatchedRequests(Settings.Refusals refusals, Metrics metrics, Time time) {
        this.time = time;
        this.refusals = refusals;
        this.metrics = metrics;
    }

    /** From now on, lets through what these settings say. */
    void use(Settings.Refusals changed) {
        refusals = changed;
    }

    /** Whether paths are refused that servers may take for different operations. */
    boolean refusesAmbiguous() {
        return refusals.ambiguousPaths();
    }

    /** Counts a request; returns whether it is refused. */
    boolean refuses(String method, String path) {
        metrics.unmatched();
        String kind = method + " " + template(path);
        Seen before = seen.get(kind);
        if (before == null && seen.size() < LOGGED_MAX) {
            before = new Seen();
            boolean first = seen.putIfAbsent(kind, before) == null;
            log(kind, first);
        }
        if (before != null) {
            before.count.increment();
            before.lastMillis = time.now().toEpochMilli();
        }
        return refusals.unmatched();
    }

    private void log(String kind, boolean first) {
        if (first) {
            log.warn(
                    "No operation matches {}: such requests {}. List it under operations to protect it",
                    kind,
                    refusals.unmatched() ? "are refused" : "pass unprotected");
            if (seen.size() >= LOGGED_MAX) {
                log.warn("Further requests that no operation matches are only counted");
            }
        }
    }

    /** The kinds that came, in the order of their names. */
    List<Operations.Unprotected> seen() {
        return seen.entrySet().stream()
                .map(it -> new Operations.Unprotected(
                        it.getKey(),
                        it.getValue().count.sum(),
                        Instant.ofEpochMilli(it.getValue().lastMillis).toString(),
                        null,
                        false))
                .sorted(Comparator.comparing(Operations.Unprotected::request))
                .toList();
    }

    /** {@code /payments/{id}} of {@code /payments/42}. */
    static String template(String path) {
        String template = ID.matcher(path).replaceAll("{id}");
        return template.length() <= TEMPLATE_CHARS_MAX ? template : template.substring(0, TEMPLATE_CHARS_MAX) + "…";
    }
}
