package dev.onlyonce.spring.web;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.DefaultCorsProcessor;
import org.springframework.web.filter.CorsFilter;

/**
 * Handles the origin of a request before the filter may answer it: a browser hides a refusal or a replay without CORS headers
 * from the page that asked. Spring Security has done so already. A {@link CorsFilter} of the application's stands further in
 * unless it was ordered, and what {@code @CrossOrigin} and a {@code WebMvcConfigurer} say is only read by the dispatcher
 * servlet; both are asked here, and find their work done when it is their turn.
 */
final class CorsFirst extends HttpFilter {
    @Serial
    private static final long serialVersionUID = 1;

    private final transient OnlyonceWeb web;
    private final transient @Nullable Filter cors;
    private final transient DefaultCorsProcessor processor = new DefaultCorsProcessor();

    CorsFirst(OnlyonceWeb web, @Nullable CorsFilter cors) {
        this.web = web;
        this.cors = cors;
    }

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (request.getDispatcherType() != DispatcherType.REQUEST) {
            web.filter().doFilter(request, response, chain);
        } else if (cors != null) {
            cors.doFilter(request, response, (in, out) -> web.filter().doFilter(in, out, chain));
        } else {
            CorsConfiguration allowed = web.operations().cors(request);
            if (allowed == null || processor.processRequest(allowed, request, response)) {
                web.filter().doFilter(request, response, chain);
            }
        }
    }
}
