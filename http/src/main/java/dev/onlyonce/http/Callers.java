package dev.onlyonce.http;

import dev.onlyonce.Key;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who sends a request: the tenant, and the credentials that are compared where the tenant alone does not tell callers apart.
 *
 * @param anonymousTenant the tenant of unauthenticated requests; null to refuse them
 * @param anonymousCredentials what tells unauthenticated callers apart
 * @param credentials what tells all callers apart; null if their tenants do
 * @param challenge the {@code WWW-Authenticate} header of a 401
 * @param hint what the detail of a 401 says; null for nothing
 */
record Callers(
        @Nullable String anonymousTenant,
        Credentials anonymousCredentials,
        @Nullable Credentials credentials,
        String challenge,
        @Nullable String hint) {
    /** No header line reads like this. */
    private static final String AUTHENTICATED = "authenticated";

    private static final Logger log = LoggerFactory.getLogger(Callers.class);
    private static final AtomicBoolean LOGGED = new AtomicBoolean();

    /** The tenant; null if the request must be refused. */
    @Nullable
    String tenant(HttpRequest request) {
        String named = request.tenant();
        if (named == null) {
            return anonymousTenant;
        }
        return unusable(named) == null ? named : null;
    }

    /** The answer to a request without a tenant. */
    Problem.Report unauthenticated(HttpRequest request) {
        String wrong = request.tenant() == null ? null : unusable(request.tenant());
        if (wrong != null && !LOGGED.getAndSet(true)) {
            log.warn(
                    "Requests are refused with 401, because their tenant cannot be used: {}. This is logged once.",
                    wrong);
        }
        return Problem.AUTHENTICATION_REQUIRED
                .because(wrong == null ? hint : wrong)
                .header("WWW-Authenticate", challenge);
    }

    /** Why this cannot be a tenant's name; null if it can. It may come from a token or a certificate: anything is possible. */
    private static @Nullable String unusable(String tenant) {
        try {
            Key.checkName("the name of the authenticated caller", tenant);
            return null;
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        }
    }

    /** The text that other callers cannot send; empty where only the tenant counts. */
    Optional<String> credentials(HttpRequest request) {
        if (credentials == null && request.tenant() != null) {
            // A user may have the name of the anonymous tenant; without this text the two could read each other's
            // answers.
            return request.tenant().equals(anonymousTenant) ? Optional.of(AUTHENTICATED) : Optional.empty();
        }
        Credentials compared = credentials == null ? anonymousCredentials : credentials;
        return compared.areCompared() ? Optional.of(compared.shown(request.headers())) : Optional.empty();
    }
}
