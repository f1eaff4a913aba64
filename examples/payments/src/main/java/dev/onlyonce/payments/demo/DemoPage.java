package dev.onlyonce.payments.demo;

import dev.onlyonce.payments.domain.ProviderClient;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.http.HttpHeaders;
import org.springframework.web.filter.OncePerRequestFilter;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * The demo's page and its calls. Anybody on this machine may use them, as with the demo's API keys, but no page of another site:
 * requests must name this machine, and changes come as JSON, which other sites may not send.
 *
 * <pre>
 * GET /                             the page; its files are below /demo
 * GET /demo/state?key=…&amp;since=…     the states of keys, and the provider's ledger since then, in milliseconds since 1970
 * GET /demo/faults, PUT /demo/faults  the provider's fault switches
 * </pre>
 */
final class DemoPage extends OncePerRequestFilter {
    /** Whose API key the page uses. */
    private static final String TENANT = "alice";

    private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
            + " img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
            + " require-trusted-types-for 'script'; trusted-types 'none'";
    private static final Map<String, String> FILES = Map.of(
            "/", "demo.html",
            "/demo/demo.js", "demo.js",
            "/demo/demo.css", "demo.css",
            "/demo/icon.svg", "icon.svg");
    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "svg", "image/svg+xml");
    private static final Set<String> MACHINE = Set.of("127.0.0.1", "localhost", "[::1]");
    private static final TypeReference<Map<String, Double>> NUMBERS = new TypeReference<>() {};
    private static final String JSON_TYPE = "application/json";

    private final Watch watch;
    private final ProviderClient provider;
    private final JsonMapper json;

    DemoPage(Watch watch, ProviderClient provider, JsonMapper json) {
        this.watch = watch;
        this.provider = provider;
        this.json = json;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        String path = request.getRequestURI();
        return !path.equals("/") && !path.startsWith("/demo/");
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        response.setHeader("Content-Security-Policy", POLICY);
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setHeader("Referrer-Policy", "no-referrer");
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        if (!MACHINE.contains(request.getServerName())) {
            response.sendError(421);
            return;
        }
        try {
            answer(request, response);
        } catch (IllegalArgumentException | JacksonException e) {
            send(response, 400, Map.of("detail", String.valueOf(e.getMessage())));
        } catch (ProviderClient.NoAnswer e) {
            send(response, 502, Map.of("detail", "The provider does not answer"));
        }
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String path = request.getRequestURI();
        switch (request.getMethod() + " " + path) {
            case "GET /demo/state" -> {
                String[] keys = request.getParameterValues("key");
                if (keys != null && keys.length > Watch.KEYS_MAX) {
                    throw new IllegalArgumentException("at most " + Watch.KEYS_MAX + " keys");
                }
                String since = request.getParameter("since");
                send(
                        response,
                        200,
                        watch.look(
                                TENANT,
                                keys == null ? List.of() : List.of(keys),
                                since == null ? 0 : Long.parseLong(since)));
            }
            case "GET /demo/faults" -> send(response, 200, provider.faults());
            case "PUT /demo/faults" -> {
                if (!JSON_TYPE.equals(request.getContentType())) {
                    throw new IllegalArgumentException("send " + JSON_TYPE);
                }
                send(response, 200, provider.faults(json.readValue(request.getInputStream(), NUMBERS)));
            }
            default -> {
                String file = FILES.get(path);
                if (file == null || !request.getMethod().equals("GET")) {
                    response.sendError(404);
                } else {
                    send(response, file);
                }
            }
        }
    }

    private void send(HttpServletResponse response, int status, Object value) throws IOException {
        response.setStatus(status);
        response.setContentType(JSON_TYPE);
        response.getOutputStream().write(json.writeValueAsBytes(value));
    }

    private static void send(HttpServletResponse response, String file) throws IOException {
        response.setContentType(TYPES.get(file.substring(file.indexOf('.') + 1)));
        try (InputStream content = DemoPage.class.getResourceAsStream("/demo/" + file)) {
            if (content == null) {
                throw new IOException("there is no " + file + " on the class path");
            }
            content.transferTo(response.getOutputStream());
        }
    }
}
