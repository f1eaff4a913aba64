package dev.onlyonce.servlet;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.Serial;

/**
 * Sets a header before everybody else, as a filter for security headers does. With the header {@code X-Shortened} a body is
 * longer than its length says, as one is that a filter has inflated; with {@code X-Read-First} it has read the form already,
 * as a filter against forged requests does.
 */
final class OuterFilter extends HttpFilter {
    @Serial
    private static final long serialVersionUID = 1;

    @Override
    protected void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        response.addHeader("X-Outer", "once");
        if (request.getHeader("X-Read-First") != null) {
            request.getParameter("_csrf");
        }
        chain.doFilter(request.getHeader("X-Shortened") == null ? request : new Shortened(request), response);
    }

    private static final class Shortened extends HttpServletRequestWrapper {
        Shortened(HttpServletRequest request) {
            super(request);
        }

        @Override
        public int getContentLength() {
            return 1;
        }

        @Override
        public long getContentLengthLong() {
            return 1;
        }
    }
}
