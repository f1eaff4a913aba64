package dev.onlyonce.server.gateway;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.server.config.LookUp;
import dev.onlyonce.server.config.Upstream;
import dev.onlyonce.store.Entry;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Asks upstreams what became of entries. Blocks; thread-safe. */
final class LookUps {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final byte[] NO_BODY = {};

    private final Map<String, LookUp> lookUps;
    private final List<Upstream> upstreams;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** What a look-up says. */
    sealed interface Answer {
        /** The effect happened; with the encoded response, if that is known. */
        record Found(Optional<byte[]> response) implements Answer {}

        /** It did not. */
        record Absent() implements Answer {}

        /** Nobody can tell. */
        record Undecided(String why) implements Answer {}
    }

    LookUps(Map<String, LookUp> lookUps, List<Upstream> upstreams) {
        this.lookUps = Map.copyOf(lookUps);
        this.upstreams = upstreams;
    }

    List<String> operations() {
        return lookUps.keySet().stream().sorted().toList();
    }

    @Nullable
    LookUp of(String operation) {
        return lookUps.get(operation);
    }

    Answer ask(LookUp lookUp, Entry entry) {
        Upstream upstream = Upstream.forPath(upstreams, lookUp.path().split("\\?", 2)[0]);
        if (upstream == null) {
            return new Answer.Undecided("no upstream takes " + lookUp.path());
        }
        URI uri = URI.create(upstream.url().getScheme() + "://" + upstream.url().getRawAuthority() + upstream.prefix()
                + filled(lookUp.path(), entry, true));
        HttpRequest.Builder request = HttpRequest.newBuilder(uri)
                .timeout(upstream.timeouts().response())
                .method(lookUp.method(), HttpRequest.BodyPublishers.noBody());
        lookUp.headers().forEach((name, value) -> request.header(name, filled(value, entry, false)));
        try {
            return judge(lookUp, client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray()));
        } catch (IOException e) {
            return new Answer.Undecided("the look-up failed: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Answer.Undecided("interrupted");
        }
    }

    private static String filled(String template, Entry entry, boolean inUri) {
        return template.replace("{key}", word(entry.id().key(), inUri))
                .replace("{tenant}", word(entry.id().tenant(), inUri))
                .replace("{operation}", word(entry.operation(), inUri));
    }

    private static String word(String value, boolean inUri) {
        return inUri ? URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20") : value;
    }

    private static Answer judge(LookUp lookUp, HttpResponse<byte[]> response) {
        if (holds(lookUp.found(), response)) {
            LookUp.Answer answer = lookUp.answer();
            return new Answer.Found(answer == null ? Optional.empty() : Optional.of(encoded(answer, response)));
        }
        return holds(lookUp.absent(), response)
                ? new Answer.Absent()
                : new Answer.Undecided("neither rule fits status " + response.statusCode());
    }

    static boolean holds(LookUp.Rule rule, HttpResponse<byte[]> response) {
        if (rule.status() != response.statusCode()) {
            return false;
        }
        if (rule.pointer() == null) {
            return true;
        }
        JsonNode at = at(response.body(), rule.pointer());
        if (at == null) {
            // What cannot be read proves neither.
            return false;
        }
        boolean present = !at.isMissingNode() && !at.isNull();
        if (rule.present() != present) {
            return false;
        }
        return rule.value() == null || !present || at.asText().equals(rule.value());
    }

    private static @Nullable JsonNode at(byte[] body, String pointer) {
        try {
            JsonNode root = JSON.readTree(body);
            return root == null || root.isMissingNode() ? null : root.at(JsonPointer.compile(pointer));
        } catch (IOException e) {
            return null;
        }
    }

    private static byte[] encoded(LookUp.Answer answer, HttpResponse<byte[]> response) {
        byte[] body = response.body();
        if (!answer.pointer().isEmpty()) {
            JsonNode at = at(body, answer.pointer());
            try {
                body = at == null || at.isMissingNode() ? NO_BODY : JSON.writeValueAsBytes(at);
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("what was read can be written", e);
            }
        }
        String type = response.headers().firstValue("Content-Type").orElse("application/json");
        return StoredResponse.of(new HttpAnswer(answer.status(), Headers.of("Content-Type", type), body))
                .encode();
    }
}
