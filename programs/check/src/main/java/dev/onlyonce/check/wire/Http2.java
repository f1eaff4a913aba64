package dev.onlyonce.check.wire;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Requests over HTTP/2: negotiated over TLS, by upgrade without it. */
public final class Http2 {
    /** The client adds these itself and takes them from nobody. */
    private static final Set<String> RESTRICTED = Set.of("host", "connection", "content-length", "expect", "upgrade");

    private final HttpClient client;
    private final Duration patience;

    /** Connects to nothing yet. */
    public Http2(Duration patience) {
        this.patience = patience;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_2)
                .connectTimeout(patience)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /** The answer, or null if the server speaks HTTP/1.1 only. Without TLS, send a GET first: it makes the upgrade. */
    public @Nullable RawAnswer send(RawRequest request) throws IOException {
        HttpRequest.Builder builder = HttpRequest.newBuilder(request.url())
                .timeout(patience)
                .method(request.method(), HttpRequest.BodyPublishers.ofByteArray(request.body()));
        request.headers().stream()
                .filter(line -> RESTRICTED.stream().noneMatch(line::is))
                .forEach(line -> builder.header(line.name(), line.value()));
        CompletableFuture<@Nullable RawAnswer> answer = client.sendAsync(
                        builder.build(), HttpResponse.BodyHandlers.ofInputStream())
                .thenApplyAsync(Http2::read, task -> new Thread(task, "onlyonce-check-http2").start());
        try {
            return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } catch (TimeoutException e) {
            throw new IOException("the answer takes too long", e);
        } catch (ExecutionException e) {
            throw new IOException(String.valueOf(e.getCause()), e);
        }
    }

    private static @Nullable RawAnswer read(HttpResponse<InputStream> response) {
        try (InputStream body = response.body()) {
            if (response.version() != HttpClient.Version.HTTP_2) {
                return null;
            }
            List<HeaderLine> headers = new ArrayList<>();
            response.headers()
                    .map()
                    .forEach((name, values) -> values.stream()
                            .filter(value -> !name.startsWith(":"))
                            .forEach(value -> headers.add(new HeaderLine(name, value))));
            return new RawAnswer(response.statusCode(), headers, body.readNBytes(Wire.BODY_BYTES_MAX));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
