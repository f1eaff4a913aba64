package dev.onlyonce.payments.web;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.ApiKeys;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.Principal;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.web.filter.OncePerRequestFilter;
import tools.jackson.databind.json.JsonMapper;

/** Makes the owner of the API key the request's principal: that is the tenant, and nothing in the request can change it. */
final class ApiKeyFilter extends OncePerRequestFilter {
    private static final String SCHEME = "Bearer ";

    /** What speaks for nobody. Webhooks have signatures instead. */
    private static final List<String> OPEN =
            List.of("/health", "/metrics", "/openapi.yaml", "/webhooks/provider", "/.well-known/idempotency");

    private static final String CONSOLE = "/onlyonce";

    private final ApiKeys keys;
    private final JsonMapper json;

    ApiKeyFilter(ApiKeys keys, JsonMapper json) {
        this.keys = keys;
        this.json = json;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        String path = request.getRequestURI();
        return OPEN.contains(path) || path.startsWith("/health/") || isConsole(path);
    }

    /** It has a rule of its own: only those at this machine get in. */
    private static boolean isConsole(String path) {
        return path.equals(CONSOLE) || path.startsWith(CONSOLE + "/");
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        String header = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            refuse(response, "Send an API key: Authorization: Bearer …");
            return;
        }
        Optional<String> tenant;
        try {
            tenant = keys.tenant(header.substring(SCHEME.length()).trim());
        } catch (Database.Unavailable e) {
            response.setHeader(HttpHeaders.RETRY_AFTER, "1");
            Refusal.send(
                    response,
                    Refusal.problem(
                            HttpStatus.SERVICE_UNAVAILABLE, "database_unavailable", "Nothing was done; try again"),
                    json);
            return;
        }
        if (tenant.isEmpty()) {
            refuse(response, "This API key is not known");
            return;
        }
        chain.doFilter(new Authenticated(request, tenant.get()), response);
    }

    private void refuse(HttpServletResponse response, String message) throws IOException {
        response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
        Refusal.send(response, Refusal.problem(HttpStatus.UNAUTHORIZED, "authentication_required", message), json);
    }

    private static final class Authenticated extends HttpServletRequestWrapper {
        private final Principal principal;

        Authenticated(HttpServletRequest request, String tenant) {
            super(request);
            this.principal = () -> tenant;
        }

        @Override
        public Principal getUserPrincipal() {
            return principal;
        }

        @Override
        public @Nullable String getRemoteUser() {
            return principal.getName();
        }
    }
}
