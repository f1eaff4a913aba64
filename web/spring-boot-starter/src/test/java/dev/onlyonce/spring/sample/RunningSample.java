package dev.onlyonce.spring.sample;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;

/** The sample application on a port of its own, and a client for it. */
final class RunningSample implements AutoCloseable {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final ConfigurableApplicationContext context;

    RunningSample(String jdbcUrl, String... properties) {
        this(SampleApp.class, jdbcUrl, properties);
    }

    RunningSample(Class<?> app, String jdbcUrl, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--logging.level.root=WARN",
                "--spring.datasource.url=" + jdbcUrl,
                "--management.endpoints.web.exposure.include=onlyonce,health,metrics",
                "--management.endpoint.health.show-details=always"));
        all.addAll(Arrays.asList(properties));
        context = new SpringApplication(app).run(all.toArray(String[]::new));
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    int runs() {
        return bean(SampleApp.class).runs.get();
    }

    CompletableFuture<HttpResponse<String>> begin(String path, String key, String body) {
        return CLIENT.sendAsync(
                request(path)
                        .header("X-Tenant", "acme")
                        .header("Idempotency-Key", key)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    HttpResponse<String> post(String path, String key, String body) {
        return begin(path, key, body).join();
    }

    /** With more header lines, names and values in turn. */
    HttpResponse<String> post(String path, String key, String body, String... headers) {
        HttpRequest.Builder request = request(path)
                .header("Idempotency-Key", key)
                .header("Content-Type", "application/json")
                .headers(headers)
                .POST(BodyPublishers.ofString(body));
        return CLIENT.sendAsync(request.build(), BodyHandlers.ofString()).join();
    }

    HttpResponse<String> postAs(String type, String path, String key, String body) {
        HttpRequest.Builder request = request(path)
                .header("Idempotency-Key", key)
                .header("Content-Type", type)
                .POST(BodyPublishers.ofString(body));
        return CLIENT.sendAsync(request.build(), BodyHandlers.ofString()).join();
    }

    HttpResponse<String> get(String path, String key) {
        return CLIENT.sendAsync(request(path).header("Idempotency-Key", key).build(), BodyHandlers.ofString())
                .join();
    }

    HttpResponse<String> send(String method, String path, String body) {
        return CLIENT.sendAsync(
                        request(path)
                                .header("Content-Type", "application/json")
                                .method(method, BodyPublishers.ofString(body))
                                .build(),
                        BodyHandlers.ofString())
                .join();
    }

    int port() {
        return ((WebServerApplicationContext) context).getWebServer().getPort();
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port() + path))
                .timeout(Duration.ofSeconds(60));
    }

    static boolean isReplay(HttpResponse<?> response) {
        return response.headers().firstValue("Idempotent-Replayed").isPresent();
    }

    @Override
    public void close() {
        context.close();
    }
}
