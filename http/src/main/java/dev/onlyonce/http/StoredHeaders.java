package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Which header lines of a response are part of its record. Those that belong to one connection, one moment, one login, one
 * trace or one origin (CORS) do not: sent again later, or to somebody else, they would be wrong or dangerous.
 */
final class StoredHeaders {
    static final String REPLAYED = "Idempotent-Replayed";
    static final String EXPIRES = "Idempotency-Key-Expires";

    private static final Set<String> NEVER = Set.of(
            // one connection (RFC 9110, 7.6.1); the length is counted again when the body is sent
            "connection",
            "keep-alive",
            "te",
            "trailer",
            "transfer-encoding",
            "upgrade",
            "content-length",
            // one moment
            "date",
            // one login
            "set-cookie",
            "set-cookie2",
            "www-authenticate",
            "authorization",
            "authentication-info",
            // one trace
            "traceparent",
            "tracestate",
            "traceresponse",
            "baggage",
            "b3",
            "x-request-id",
            "x-correlation-id",
            "x-amzn-trace-id",
            "x-amzn-requestid",
            "x-cloud-trace-context",
            "uber-trace-id",
            "sentry-trace",
            "server-timing",
            // written again for every answer
            REPLAYED.toLowerCase(Locale.ROOT),
            EXPIRES.toLowerCase(Locale.ROOT),
            Repeatability.RESULT.toLowerCase(Locale.ROOT));

    private static final List<String> NEVER_PREFIXES =
            List.of("proxy-", "x-b3-", "x-datadog-", "ot-tracer-", "access-control-", "timing-allow-");
    /** What CORS handling adds to {@code Vary}; it adds them again to a replay, for the origin of the retry. */
    private static final Set<String> CORS_VARY =
            Set.of("origin", "access-control-request-method", "access-control-request-headers");

    /** What servlet containers add to links for a browser without cookies: a login, which nobody else must get. */
    private static final Pattern SESSION = Pattern.compile(";jsessionid=[^;/?#]*", Pattern.CASE_INSENSITIVE);

    private StoredHeaders() {}

    static Headers of(Headers headers) {
        Set<String> perConnection = new HashSet<>();
        for (String line : headers.values("Connection")) {
            for (String name : line.split(",")) {
                perConnection.add(name.strip().toLowerCase(Locale.ROOT));
            }
        }
        List<Headers.Field> stored = new ArrayList<>();
        for (Headers.Field field : headers.fields()) {
            String name = field.name().toLowerCase(Locale.ROOT);
            String value = switch (name) {
                case "vary" -> withoutCors(field.value());
                case "location", "content-location" ->
                    SESSION.matcher(field.value()).replaceAll("");
                default -> field.value();
            };
            boolean emptied = value.isEmpty() && !field.value().isEmpty();
            if (!NEVER.contains(name) && !perConnection.contains(name) && !hasPrefix(name) && !emptied) {
                stored.add(new Headers.Field(field.name(), value));
            }
        }
        return new Headers(stored);
    }

    private static String withoutCors(String vary) {
        return Arrays.stream(vary.split(","))
                .map(String::strip)
                .filter(name -> !CORS_VARY.contains(name.toLowerCase(Locale.ROOT)))
                .collect(Collectors.joining(", "));
    }

    private static boolean hasPrefix(String name) {
        for (String prefix : NEVER_PREFIXES) {
            if (name.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }
}
