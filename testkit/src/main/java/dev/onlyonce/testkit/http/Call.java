package dev.onlyonce.testkit.http;

import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A request that can be sent again and again. Sending it twice is a retry. */
final class Call {
    private final Client client;
    private final String method;
    private final String path;
    private final String tenant;
    private final String effect;
    private final List<String> keys;
    private final List<String> headers;
    private final String type;
    private final byte[] body;
    private final boolean chunked;

    Call(Client client, String method, String path, String tenant, String effect, String key) {
        this(
                client,
                method,
                path,
                tenant,
                effect,
                List.of(key),
                List.of(),
                "application/json",
                "{\"amount\":10,\"to\":\"bob\"}".getBytes(StandardCharsets.UTF_8),
                false);
    }

    private Call(
            Client client,
            String method,
            String path,
            String tenant,
            String effect,
            List<String> keys,
            List<String> headers,
            String type,
            byte[] body,
            boolean chunked) {
        this.client = client;
        this.method = method;
        this.path = path;
        this.tenant = tenant;
        this.effect = effect;
        this.keys = keys;
        this.headers = headers;
        this.type = type;
        this.body = body;
        this.chunked = chunked;
    }

    Call method(String other) {
        return new Call(client, other, path, tenant, effect, keys, headers, type, body, chunked);
    }

    Call path(String other) {
        return new Call(client, method, other, tenant, effect, keys, headers, type, body, chunked);
    }

    Call tenant(String other) {
        return new Call(client, method, path, other, effect, keys, headers, type, body, chunked);
    }

    Call effect(String other) {
        return new Call(client, method, path, tenant, other, keys, headers, type, body, chunked);
    }

    /** With these lines of the key header. */
    Call keys(String... lines) {
        return new Call(client, method, path, tenant, effect, List.of(lines), headers, type, body, chunked);
    }

    Call header(String name, String value) {
        List<String> more = new ArrayList<>(headers);
        more.add(name);
        more.add(value);
        return new Call(client, method, path, tenant, effect, keys, more, type, body, chunked);
    }

    Call body(String contentType, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return new Call(client, method, path, tenant, effect, keys, headers, contentType, bytes, chunked);
    }

    Call json(String text) {
        return body("application/json", text);
    }

    /** Without a Content-Length. */
    Call inChunks() {
        return new Call(client, method, path, tenant, effect, keys, headers, type, body, true);
    }

    String key() {
        return keys.get(0);
    }

    String effect() {
        return effect;
    }

    /** How often handlers ran for it. */
    int effects() {
        return client.effects(effect);
    }

    Answer send() {
        return Client.join(begin());
    }

    CompletableFuture<Answer> begin() {
        HttpRequest.Builder builder = client.request(path, tenant)
                .method(method, publisher())
                .header("Content-Type", type)
                .header("X-Effect", effect);
        keys.forEach(key -> builder.header("Idempotency-Key", key));
        for (int i = 0; i < headers.size(); i += 2) {
            builder.header(headers.get(i), headers.get(i + 1));
        }
        return client.send(builder.build());
    }

    private BodyPublisher publisher() {
        if (method.equals("GET") || method.equals("HEAD")) {
            // Nobody need read such a body; a server that does not may close the connection under the next request.
            return BodyPublishers.noBody();
        }
        return chunked
                ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
                : BodyPublishers.ofByteArray(body);
    }

    /** Begins, and returns when the handler runs. */
    CompletableFuture<Answer> beginAndEnter() {
        CompletableFuture<Answer> answer = begin();
        Client.await("the handler runs", () -> effects() > 0 || answer.isDone());
        return answer;
    }

    /** Lets the handler go on that waits for it. */
    void openGate() {
        client.open(effect);
    }
}
