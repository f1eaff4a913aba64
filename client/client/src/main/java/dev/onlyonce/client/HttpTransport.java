package dev.onlyonce.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Sends with the JDK's HTTP client. */
final class HttpTransport implements Transport {
    private static final int EXPECTATION_FAILED = 417;

    private final HttpClient http;
    private final boolean expectContinue;

    HttpTransport(HttpClient http, boolean expectContinue) {
        this.http = http;
        this.expectContinue = expectContinue;
    }

    @Override
    public CallResponse exchange(CallRequest request, Duration timeout) throws IOException, InterruptedException {
        boolean expects = expectContinue && request.body().length() > 0;
        long begun = System.nanoTime();
        CallResponse response = exchange(request, timeout, expects);
        Duration left = timeout.minusNanos(System.nanoTime() - begun);
        // The server cannot do what we expect, and has not executed anything: ask without it (RFC 9110, 10.1.1).
        return expects && response.status() == EXPECTATION_FAILED && left.toMillis() > 0
                ? exchange(request, left, false)
                : response;
    }

    private CallResponse exchange(CallRequest request, Duration timeout, boolean expects)
            throws IOException, InterruptedException {
        HttpRequest.Builder builder = HttpRequest.newBuilder(request.uri())
                .timeout(timeout)
                .expectContinue(expects)
                .method(request.method(), publisher(request.body()));
        if ("http".equalsIgnoreCase(request.uri().getScheme())) {
            // An upgrade to HTTP/2 without TLS is one more thing that servers and proxies between get wrong.
            builder.version(HttpClient.Version.HTTP_1_1);
        }
        request.headers().forEach(builder::setHeader);
        CompletableFuture<HttpResponse<BoundedBody.Collected>> answer =
                http.sendAsync(builder.build(), info -> new BoundedBody(CallResponse.BODY_BYTES_MAX));
        try {
            // The timeout of the request ends with the headers; a server that drips its body would hold us for longer.
            HttpResponse<BoundedBody.Collected> response = answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            return new CallResponse(
                    response.statusCode(),
                    response.headers().map(),
                    response.body().bytes(),
                    response.body().isWhole());
        } catch (TimeoutException e) {
            throw new HttpTimeoutException("no whole answer in " + timeout.toMillis() + " ms");
        } catch (ExecutionException e) {
            throw trouble(e.getCause());
        } finally {
            answer.cancel(true);
        }
    }

    private static BodyPublisher publisher(CallBody body) throws IOException {
        if (body instanceof CallBody.Bytes bytes) {
            return bytes.bytes().length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(bytes.bytes());
        }
        // A first look, so that a changed file fails before a connection is made.
        body.open().close();
        return body.length() == 0
                ? BodyPublishers.noBody()
                : BodyPublishers.fromPublisher(BodyPublishers.ofInputStream(() -> open(body)), body.length());
    }

    private static InputStream open(CallBody body) {
        try {
            return body.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static IOException trouble(@Nullable Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BodyChanged changed) {
                return changed;
            }
        }
        if (failure instanceof IOException e) {
            return e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
        return new IOException(failure);
    }
}
