package dev.onlyonce.payments;

import dev.onlyonce.payments.PaymentsServer.Reply;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A client of the payments API. */
final class Client {
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI api;

    Client(URI api) {
        this.api = api;
    }

    /** A request as alice, unless a header says otherwise; headers are names and values in turn. */
    Reply send(String method, String path, String body, String... headers) throws Exception {
        return sendAsync(method, path, body, headers).get();
    }

    CompletableFuture<Reply> sendAsync(String method, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(api.resolve(path))
                .timeout(Duration.ofMinutes(4))
                .method(method, HttpRequest.BodyPublishers.ofString(body));
        List<String> all = new ArrayList<>(List.of(headers));
        if (!all.contains("Authorization")) {
            all.addAll(List.of("Authorization", "Bearer test_alice"));
        }
        if (!all.contains("Content-Type")) {
            all.addAll(List.of("Content-Type", "application/json"));
        }
        request.headers(all.toArray(String[]::new));
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString())
                .thenApply(response -> new Reply(response.statusCode(), response.headers(), response.body()));
    }
}
