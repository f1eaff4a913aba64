package dev.onlyonce.benchmarks;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ContentCachingResponseWrapper;

/**
 * What one writes by hand: one statement to claim the key, one to record the response, a hash of the body to tell misuse, and the
 * recorded response for duplicates. Either each statement commits by itself, or one transaction holds them and the handler.
 */
final class HttpByHandFilter extends OncePerRequestFilter {
    private final JdbcTemplate jdbc;
    private final TransactionOperations transactions;

    HttpByHandFilter(JdbcTemplate jdbc, TransactionOperations transactions) {
        this.jdbc = jdbc;
        this.transactions = transactions;
        jdbc.execute("CREATE TABLE IF NOT EXISTS by_hand (tenant text NOT NULL, key_ text NOT NULL,"
                + " hash bytea NOT NULL, created_at timestamptz NOT NULL, status int, type_ text, response bytea,"
                + " PRIMARY KEY (tenant, key_))");
    }

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        String key = request.getHeader("Idempotency-Key");
        byte[] body = request.getInputStream().readAllBytes();
        byte[] hash = sha256(body);
        ContentCachingResponseWrapper captured = new ContentCachingResponseWrapper(response);
        try {
            transactions.executeWithoutResult(status -> {
                try {
                    answer(key, hash, new Again(request, body), captured, chain);
                } catch (IOException | ServletException e) {
                    throw new IllegalStateException(e);
                }
            });
        } finally {
            captured.copyBodyToResponse();
        }
    }

    private void answer(
            String key, byte[] hash, Again request, ContentCachingResponseWrapper response, FilterChain chain)
            throws IOException, ServletException {
        int claimed = jdbc.update(
                "INSERT INTO by_hand (tenant, key_, hash, created_at) VALUES (?, ?, ?, now())"
                        + " ON CONFLICT DO NOTHING",
                Work.TENANT,
                key,
                hash);
        if (claimed == 0) {
            replay(key, hash, response);
            return;
        }
        chain.doFilter(request, response);
        jdbc.update(
                "UPDATE by_hand SET status = ?, type_ = ?, response = ? WHERE tenant = ? AND key_ = ?",
                response.getStatus(),
                response.getContentType(),
                response.getContentAsByteArray(),
                Work.TENANT,
                key);
    }

    private void replay(String key, byte[] hash, HttpServletResponse response) throws IOException {
        Map<String, Object> row = jdbc.queryForMap(
                "SELECT hash, status, type_, response FROM by_hand WHERE tenant = ? AND key_ = ?", Work.TENANT, key);
        if (!MessageDigest.isEqual(hash, (byte[]) row.get("hash"))) {
            response.sendError(422);
        } else if (row.get("status") instanceof Integer status && row.get("response") instanceof byte[] bytes) {
            response.setStatus(status);
            response.setContentType((String) row.get("type_"));
            response.getOutputStream().write(bytes);
        } else {
            response.sendError(409);
        }
    }

    private static byte[] sha256(byte[] body) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(body);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A body that can be read again. */
    private static final class Again extends HttpServletRequestWrapper {
        private final byte[] body;

        Again(HttpServletRequest request, byte[] body) {
            super(request);
            this.body = body;
        }

        @Override
        public ServletInputStream getInputStream() {
            ByteArrayInputStream bytes = new ByteArrayInputStream(body);
            return new ServletInputStream() {
                @Override
                public int read() {
                    return bytes.read();
                }

                @Override
                public int read(byte[] into, int from, int length) {
                    return bytes.read(into, from, length);
                }

                @Override
                public boolean isFinished() {
                    return bytes.available() == 0;
                }

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void setReadListener(ReadListener listener) {
                    throw new UnsupportedOperationException();
                }
            };
        }
    }
}
