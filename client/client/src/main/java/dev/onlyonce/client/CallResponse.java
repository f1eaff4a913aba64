package dev.onlyonce.client;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * An answer. Immutable.
 *
 * @param status the status code
 * @param headers by name; the case of names does not matter
 * @param body the bytes
 * @param isWhole false if the body was longer than what was read or kept
 */
public record CallResponse(int status, Map<String, List<String>> headers, byte[] body, boolean isWhole) {
    /** The most bytes of a body that are read. The status has told the outcome by then. */
    public static final int BODY_BYTES_MAX = 16 << 20;

    /** Copies the headers. */
    public CallResponse {
        Map<String, List<String>> sorted = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> sorted.put(name, List.copyOf(values)));
        headers = Collections.unmodifiableMap(sorted);
    }

    /** The first value of a header. */
    public Optional<String> header(String name) {
        List<String> values = headers.getOrDefault(name, List.of());
        return values.isEmpty() ? Optional.empty() : Optional.of(values.get(0));
    }

    /** The body as UTF-8 text. */
    public String text() {
        return new String(body, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return status + ", " + body.length + " bytes" + (isWhole ? "" : " and more");
    }
}
