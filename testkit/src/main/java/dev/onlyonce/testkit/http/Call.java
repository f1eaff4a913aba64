package dev.onlyonce.testkit.http;

import dev.onlyonce.check.wire.HeaderLine;
import dev.onlyonce.check.wire.RawRequest;
import java.util.concurrent.CompletableFuture;

/** A request that can be sent again and again. Sending it twice is a retry. */
record Call(Client client, RawRequest request) {
    private static final String AUTHORIZATION = "Authorization";
    private static final String EFFECT = "X-Effect";
    private static final String KEY = "Idempotency-Key";
    private static final String TYPE = "Content-Type";

    Call method(String other) {
        // Nobody need read the body of a GET; a server that does not may break off the connection.
        RawRequest bare = other.equals("GET") || other.equals("HEAD") ? request.body("") : request;
        return new Call(client, bare.method(other));
    }

    Call path(String other) {
        return new Call(client, request.url(client.url(other)));
    }

    /** As this tenant; nobody in particular if it is empty. */
    Call tenant(String other) {
        return new Call(
                client,
                other.isEmpty()
                        ? request.without(AUTHORIZATION)
                        : request.with(AUTHORIZATION, client.authorization(other)));
    }

    Call effect(String other) {
        return new Call(client, request.with(EFFECT, other));
    }

    /** With these lines of the key header. */
    Call keys(String... lines) {
        RawRequest keyed = request.without(KEY);
        for (String line : lines) {
            keyed = keyed.plus(KEY, line);
        }
        return new Call(client, keyed);
    }

    Call header(String name, String value) {
        return new Call(client, request.plus(name, value));
    }

    Call body(String contentType, String text) {
        return new Call(client, request.with(TYPE, contentType).body(text));
    }

    Call json(String text) {
        return body("application/json", text);
    }

    /** Without a Content-Length. */
    Call inChunks() {
        return new Call(client, request.inChunks());
    }

    String key() {
        return header(KEY);
    }

    String effect() {
        return header(EFFECT);
    }

    private String header(String name) {
        return request.headers().stream()
                .filter(line -> line.is(name))
                .map(HeaderLine::value)
                .findFirst()
                .orElseThrow();
    }

    /** How often handlers ran for it. */
    int effects() {
        return Integer.parseInt(client.get("/effects/" + effect()).text().strip());
    }

    Answer send() {
        return Client.join(begin());
    }

    /** Sends it. Cancelling the future hangs up. */
    CompletableFuture<Answer> begin() {
        return client.begin(request);
    }

    /** Begins, and returns when the handler runs. */
    CompletableFuture<Answer> beginAndEnter() {
        CompletableFuture<Answer> answer = begin();
        Client.await("the handler runs", () -> effects() > 0 || answer.isDone());
        return answer;
    }

    /** Lets the handler go on that waits for it. */
    void openGate() {
        client.open(effect());
    }
}
