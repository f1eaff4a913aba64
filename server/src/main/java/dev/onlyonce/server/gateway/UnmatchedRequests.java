package dev.onlyonce.server.gateway;

import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.observe.Metrics;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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

    private final Settings.Refusals refusals;
    private final Metrics metrics;
    private final Set<String> logged = ConcurrentHashMap.newKeySet();

    UnmatchedRequests(Settings.Refusals refusals, Metrics metrics) {
        this.refusals = refusals;
        this.metrics = metrics;
    }

    /** Whether paths are refused that servers may take for different operations. */
    boolean refusesAmbiguous() {
        return refusals.ambiguousPaths();
    }

    /** Counts a request; returns whether it is refused. */
    boolean refuses(String method, String path) {
        metrics.unmatched();
        String kind = method + " " + template(path);
        if (logged.size() < LOGGED_MAX && logged.add(kind)) {
            log.warn(
                    "No operation matches {}: such requests {}. List it under operations to protect it",
                    kind,
                    refusals.unmatched() ? "are refused" : "pass unprotected");
            if (logged.size() >= LOGGED_MAX) {
                log.warn("Further requests that no operation matches are only counted");
            }
        }
        return refusals.unmatched();
    }

    /** {@code /payments/{id}} of {@code /payments/42}. */
    static String template(String path) {
        String template = ID.matcher(path).replaceAll("{id}");
        return template.length() <= TEMPLATE_CHARS_MAX ? template : template.substring(0, TEMPLATE_CHARS_MAX) + "…";
    }
}
