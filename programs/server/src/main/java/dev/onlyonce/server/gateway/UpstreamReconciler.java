package dev.onlyonce.server.gateway;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onlyonce.Reconciler;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.server.config.Authorities;
import dev.onlyonce.server.config.LookUp;
import dev.onlyonce.server.config.Upstream;
import dev.onlyonce.store.Entry;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Asks the upstream for the outcome of an entry, as configured. Thread-safe. */
final class UpstreamReconciler implements Reconciler {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final byte[] NO_BODY = {};
    /** More than any answer about one entry. */
    private static final int BODY_BYTES_MAX = 1 << 20;
    /** Entries are asked about one after the other: one that hangs must not hold up the others for long. */
    private static final Duration ANSWER_MAX = Duration.ofSeconds(5);

    private final LookUp lookUp;
    private final Upstream upstream;
    private final HttpClient client;

    UpstreamReconciler(LookUp lookUp, Upstream upstream, HttpClient client) {
        this.lookUp = lookUp;
        this.upstream = upstream;
        this.client = client;
    }

    /** Trusts whom requests to the upstream trust. */
    static HttpClient client(Upstream upstream) {
        HttpClient.Builder client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
        Authorities authorities = upstream.authorities();
        return (authorities == null ? client : client.sslContext(authorities.context())).build();
    }

    @Override
    public Duration absentAfter() {
        return lookUp.absentAfter();
    }

    @Override
    public Finding reconcile(Entry entry) throws InterruptedException {
        String base = upstream.url().getScheme() + "://" + upstream.url().getRawAuthority() + upstream.prefix();
        HttpRequest.Builder request =
                lookUp.request(base, entry.id(), entry.operation()).timeout(ANSWER_MAX);
        // The request's own time-out ends with the head of the response; a body that stalls must end too.
        CompletableFuture<HttpResponse<byte[]>> asked =
                client.sendAsync(request.build(), head -> new BoundedBody(BODY_BYTES_MAX));
        try {
            return judge(asked.get(ANSWER_MAX.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return new Finding.CannotTell("the look-up took longer than " + ANSWER_MAX.toSeconds() + " s");
        } catch (ExecutionException e) {
            return new Finding.CannotTell("the look-up failed: " + e.getCause());
        } finally {
            asked.cancel(true);
        }
    }

    private Finding judge(HttpResponse<byte[]> response) {
        if (holds(lookUp.found(), response)) {
            LookUp.Answer answer = lookUp.answer();
            return answer == null ? new Finding.Found() : new Finding.Found(encoded(answer, response));
        }
        return holds(lookUp.absent(), response)
                ? new Finding.Absent("the look-up found nothing")
                : new Finding.CannotTell("neither rule of the look-up fits status " + response.statusCode());
    }

    private static boolean holds(LookUp.Rule rule, HttpResponse<byte[]> response) {
        if (rule.status() != response.statusCode()) {
            return false;
        }
        if (rule.pointer() == null) {
            return true;
        }
        if (!rule.present() && !hasPlaceFor(rule.pointer(), response.body())) {
            return false;
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

    /** An error that came with this status has nothing at the pointer either: only what could have held it proves anything. */
    private static boolean hasPlaceFor(String pointer, byte[] body) {
        JsonPointer above = JsonPointer.compile(pointer).head();
        JsonNode holder = above == null ? null : at(body, above.toString());
        return holder != null && holder.isContainerNode();
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
