package dev.onlyonce.client.spring;

import dev.onlyonce.client.BusinessId;
import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallInDoubt;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.RetryingClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpRequestExecution;
import org.springframework.http.client.ClientHttpRequestInterceptor;
import org.springframework.http.client.ClientHttpResponse;

/**
 * Sends requests of a {@code RestClient} that have the attribute {@link BusinessId#ATTRIBUTE} through a {@link RetryingClient}: its
 * journal, its keys, its policy, and Spring's connections. A call in doubt is a {@link CallInDoubt}, which Spring wraps in a {@code
 * ResourceAccessException}. The request factory must not follow redirects. An attempt that takes too long is interrupted: factories
 * on the JDK's client, Jetty and Reactor Netty end then; one that cannot be interrupted (Apache, {@code HttpURLConnection}) ends with
 * its own read timeout.
 */
public final class RetryingRequestInterceptor implements ClientHttpRequestInterceptor {
    private final RetryingClient client;

    /** Shares the client. */
    public RetryingRequestInterceptor(RetryingClient client) {
        this.client = client;
    }

    @Override
    public ClientHttpResponse intercept(HttpRequest request, byte[] body, ClientHttpRequestExecution execution)
            throws IOException {
        Object id = request.getAttributes().get(BusinessId.ATTRIBUTE);
        if (id == null) {
            return execution.execute(request, body);
        }
        CallRequest call =
                CallRequest.of(request.getMethod().name(), request.getURI(), map(request.getHeaders()), body);
        try {
            return new Answered(CallInDoubt.responseOf(client.send(
                    id.toString(),
                    call,
                    (attempt, timeout) -> exchange(
                            execution, new Attempted(attempt, request.getAttributes()), attempt.body(), timeout))));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted; " + id + " stays open in the journal");
        }
    }

    private static CallResponse exchange(
            ClientHttpRequestExecution execution, Attempted attempt, CallBody body, Duration timeout)
            throws IOException {
        byte[] bytes = body.open().readAllBytes();
        try (Deadline deadline = Deadline.after(timeout)) {
            attempt.headers().setContentLength(bytes.length);
            // The stream is closed first: Spring's responses read what is left when they are closed.
            try (ClientHttpResponse response = execution.execute(attempt, bytes);
                    InputStream in = response.getBody()) {
                byte[] read = deadline.read(in, CallResponse.BODY_BYTES_MAX + 1);
                boolean isWhole = read.length <= CallResponse.BODY_BYTES_MAX;
                return new CallResponse(
                        response.getStatusCode().value(),
                        map(response.getHeaders()),
                        isWhole ? read : Arrays.copyOf(read, CallResponse.BODY_BYTES_MAX),
                        isWhole);
            } catch (IOException | RuntimeException e) {
                if (deadline.isOver()) {
                    throw deadline.passed(e);
                }
                throw e;
            }
        }
    }

    static Map<String, List<String>> map(HttpHeaders headers) {
        Map<String, List<String>> map = new LinkedHashMap<>();
        headers.forEach(map::put);
        return map;
    }

    /** One attempt. */
    private record Attempted(HttpMethod method, URI uri, HttpHeaders headers, Map<String, Object> attributes)
            implements HttpRequest {
        Attempted(CallRequest attempt, Map<String, Object> attributes) {
            this(HttpMethod.valueOf(attempt.method()), attempt.uri(), new HttpHeaders(), attributes);
            attempt.headers().forEach(headers::set);
        }

        @Override
        public HttpMethod getMethod() {
            return method;
        }

        @Override
        public URI getURI() {
            return uri;
        }

        @Override
        public HttpHeaders getHeaders() {
            return headers;
        }

        @Override
        public Map<String, Object> getAttributes() {
            return attributes;
        }
    }

    /** The answer, which was read. */
    private record Answered(CallResponse response) implements ClientHttpResponse {
        @Override
        public HttpStatusCode getStatusCode() {
            return HttpStatusCode.valueOf(response.status());
        }

        @Override
        public String getStatusText() {
            return "";
        }

        @Override
        public HttpHeaders getHeaders() {
            HttpHeaders headers = new HttpHeaders();
            response.headers().forEach(headers::addAll);
            return headers;
        }

        @Override
        public InputStream getBody() {
            return new ByteArrayInputStream(response.body());
        }

        @Override
        public void close() {}
    }
}
