package dev.onlyonce.testservers;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The protocol of Chromium's developer tools: calls with their answers, and events. Thread-safe. */
final class DevTools implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final AtomicInteger numbers = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonNode>> calls = new ConcurrentHashMap<>();
    private final Map<String, BiConsumer<String, JsonNode>> listeners = new ConcurrentHashMap<>();
    private final WebSocket socket;

    /** It refused a call, or did not answer. */
    static final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1;

        Failed(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    DevTools(URI url) {
        socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .connectTimeout(PATIENCE)
                .buildAsync(url, new Incoming())
                .join();
    }

    /** Receives the events of a session: their names and parameters. */
    void listen(String session, BiConsumer<String, JsonNode> listener) {
        listeners.put(session, listener);
    }

    /** A call that is answered; parameters as names and values in turn. */
    JsonNode call(@Nullable String session, String method, Object... parameters) {
        int number = numbers.incrementAndGet();
        ObjectNode message = JSON.createObjectNode().put("id", number).put("method", method);
        ObjectNode given = message.putObject("params");
        for (int i = 0; i < parameters.length; i += 2) {
            given.set((String) parameters[i], JSON.valueToTree(parameters[i + 1]));
        }
        if (session != null) {
            message.put("sessionId", session);
        }
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        calls.put(number, answer);
        send(message.toString());
        try {
            return answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            throw new Failed(method + ": " + e.getMessage(), e);
        } finally {
            calls.remove(number);
        }
    }

    /** One message at a time, as web sockets want it. */
    private synchronized void send(String message) {
        socket.sendText(message, true).join();
    }

    private final class Incoming implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                String message = text.toString();
                text.setLength(0);
                receive(message);
            }
            from.request(1);
            return null;
        }

        @Override
        public void onError(WebSocket from, Throwable error) {
            calls.values().forEach(call -> call.completeExceptionally(error));
        }
    }

    private void receive(String text) {
        JsonNode message;
        try {
            message = JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("not JSON: " + text, e);
        }
        if (!message.has("id")) {
            listeners
                    .getOrDefault(message.path("sessionId").asText(""), (name, parameters) -> {})
                    .accept(message.path("method").asText(), message.path("params"));
            return;
        }
        CompletableFuture<JsonNode> call = calls.get(message.get("id").asInt());
        if (call != null) {
            if (message.has("error")) {
                call.completeExceptionally(new IllegalStateException(
                        message.path("error").path("message").asText()));
            } else {
                call.complete(message.path("result"));
            }
        }
    }

    @Override
    public void close() {
        socket.abort();
    }
}
