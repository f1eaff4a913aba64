package dev.onlyonce.payments.web;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.http.HttpStatus;
import org.springframework.web.filter.OncePerRequestFilter;
import tools.jackson.databind.json.JsonMapper;

/** Refuses bodies that nobody needs to send, before anything holds them in memory; also those of unknown length. */
final class BodyLimitFilter extends OncePerRequestFilter {
    private static final int BYTES_MAX = 1 << 20;

    private final JsonMapper json;

    BodyLimitFilter(JsonMapper json) {
        this.json = json;
    }

    /** Webhooks have a limit of their own. */
    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return request.getRequestURI().startsWith("/webhooks/");
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        try {
            if (request.getContentLengthLong() > BYTES_MAX) {
                throw tooLarge();
            }
            chain.doFilter(new Counted(request), response);
        } catch (Refusal refusal) {
            // A filter has read it; from a controller it does not come here.
            Refusal.send(response, refusal.problem(), json);
        }
    }

    private static Refusal tooLarge() {
        return new Refusal(
                HttpStatus.CONTENT_TOO_LARGE, "body_too_large", "the body is larger than " + BYTES_MAX + " bytes");
    }

    private static final class Counted extends HttpServletRequestWrapper {
        Counted(HttpServletRequest request) {
            super(request);
        }

        @Override
        public ServletInputStream getInputStream() throws IOException {
            return new CountedStream(super.getInputStream());
        }
    }

    /** Of one request, read by one thread. */
    private static final class CountedStream extends ServletInputStream {
        private final ServletInputStream stream;
        private long bytes;

        CountedStream(ServletInputStream stream) {
            this.stream = stream;
        }

        private void count(int read) {
            bytes += Math.max(read, 0);
            if (bytes > BYTES_MAX) {
                throw tooLarge();
            }
        }

        @Override
        public int read() throws IOException {
            int read = stream.read();
            count(read < 0 ? 0 : 1);
            return read;
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            int read = stream.read(buffer, offset, length);
            count(read);
            return read;
        }

        @Override
        public boolean isFinished() {
            return stream.isFinished();
        }

        @Override
        public boolean isReady() {
            return stream.isReady();
        }

        @Override
        public void setReadListener(ReadListener listener) {
            stream.setReadListener(listener);
        }
    }
}
