package dev.onlyonce.http;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request: the tenant, and the credentials that are compared where the tenant alone does not tell callers apart.
 *
 * @param anonymousTenant the tenant of unauthenticated requests; null to refuse them
 * @param credentials the headers that every caller's credentials are in, lower case and sorted; null for {@link
 *     Boundary#CREDENTIALS} of requests without a tenant
 * @param challenge the {@code WWW-Authenticate} header of a 401
 * @param hint what the detail of a 401 says; null for nothing
 */
record Callers(
        @Nullable String anonymousTenant,
        @Nullable List<String> credentials,
        String challenge,
        @Nullable String hint) {
    /** No header line reads like this. */
    private static final String AUTHENTICATED = "authenticated";

    /** The tenant; null if the request must be refused. */
    @Nullable
    String tenant(HttpRequest request) {
        return request.tenant() == null ? anonymousTenant : request.tenant();
    }

    Problem.Report unauthenticated() {
        return Problem.AUTHENTICATION_REQUIRED.because(hint).header("WWW-Authenticate", challenge);
    }

    /** The text that other callers cannot send; empty where only the tenant counts. */
    Optional<String> credentials(HttpRequest request) {
        List<String> names =
                credentials != null ? credentials : request.tenant() == null ? Boundary.CREDENTIALS : List.of();
        if (names.isEmpty()) {
            // A user may have the name of the anonymous tenant; without this text the two could read each other's
            // answers.
            boolean namesake = credentials == null
                    && request.tenant() != null
                    && request.tenant().equals(anonymousTenant);
            return namesake ? Optional.of(AUTHENTICATED) : Optional.empty();
        }
        StringBuilder shown = new StringBuilder();
        for (String name : names) {
            for (String value : request.headers().values(name)) {
                // With its length, so that no two sets of header lines give the same text.
                shown.append(name.toLowerCase(Locale.ROOT)).append(' ');
                shown.append(value.length()).append(' ').append(value).append('\n');
            }
        }
        return Optional.of(shown.toString());
    }
}
