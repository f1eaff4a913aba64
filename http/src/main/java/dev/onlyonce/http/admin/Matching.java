package dev.onlyonce.http.admin;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Whether a request would match the one that a key was used for.
 *
 * @param match null if that cannot be told
 * @param summary in one sentence
 */
public record Matching(@Nullable Boolean match, String summary, List<Part> parts) {
    /**
     * A part of the request.
     *
     * @param part {@code operation}, {@code target}, {@code query}, {@code headers}, {@code body} or {@code caller}
     * @param same null if that cannot be told: only the hash of the whole request is stored
     */
    public record Part(String part, @Nullable Boolean same, String detail) {}

    /**
     * A request that an operator has at hand.
     *
     * @param target path and query, as they were sent
     * @param body as text
     */
    public record Sample(
            String method,
            String target,
            @Nullable Map<String, String> headers,
            @Nullable String body) {
        /** Checks that what came from outside is whole. */
        public Sample {
            requireNonNull(method, "method is missing");
            requireNonNull(target, "target is missing");
        }
    }
}
