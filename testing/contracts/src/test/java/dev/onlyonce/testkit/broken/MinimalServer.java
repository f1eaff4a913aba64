package dev.onlyonce.testkit.broken;

import dev.onlyonce.check.EffectCounter;
import dev.onlyonce.check.Plan;
import dev.onlyonce.check.Standard;
import dev.onlyonce.check.wire.HeaderLine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A correct API that does what one standard asks for, and nothing that it does not ask for: no marks, no expiry, no
 * Retry-After, bytes of bodies compared as they are (IETF), or quotation marks that are part of a key (Stripe).
 */
final class MinimalServer implements AutoCloseable {
    private static final Pattern SF_STRING = Pattern.compile("\"[ !#-\\[\\]-~]+\"");
    private static final int STRIPE_KEY_MAX = 255;
    private static final long RUN_NANOS = Duration.ofMillis(60).toNanos();

    private final boolean isDraft;
    private final TinyServer server;
    private final Map<String, Kept> kept = new ConcurrentHashMap<>();
    private final AtomicInteger effects = new AtomicInteger();

    /** What was asked for with a key, and the answer. */
    private record Kept(String asked, CompletableFuture<TinyAnswer> answer) {}

    MinimalServer(Standard standard) {
        isDraft = standard == Standard.IETF;
        server = TinyServer.start(this::handle);
    }

    Plan.Builder plan() {
        return Plan.builder(server.url("/payments"), "{\"amount\": 7, \"to\": \"bob\"}")
                .headers(List.of(new HeaderLine("Authorization", "Bearer one")))
                .secondTenant(List.of(new HeaderLine("Authorization", "Bearer two")))
                .counter(EffectCounter.parse(server.url("/count#/effects").toString()))
                .secondUrl(server.url("/refunds"))
                .refused(Plan.Variation.body("{\"amount\": -1}"))
                .failing(Plan.Variation.body("{\"amount\": 500}"))
                .rememberedFor(Duration.ZERO)
                .quietFor(Duration.ofMillis(200))
                .patience(Duration.ofSeconds(2));
    }

    private TinyAnswer handle(TinyRequest request) throws IOException {
        String body = new String(request.body(), StandardCharsets.UTF_8);
        if (request.path().equals("/count")) {
            return TinyAnswer.of(200, "{\"effects\": " + effects + "}");
        }
        if (!request.method().equals("POST")) {
            return TinyAnswer.of(405, "{\"error\": \"only POST\"}");
        }
        List<String> keys = request.lines("Idempotency-Key");
        if (keys.isEmpty()) {
            return isDraft ? TinyAnswer.of(400, "{\"error\": \"no key\"}") : run(body);
        }
        String key = String.join(", ", keys);
        if (isDraft ? !SF_STRING.matcher(key).matches() : key.length() > STRIPE_KEY_MAX) {
            return TinyAnswer.of(400, "{\"error\": \"not a key\"}");
        }
        return protect(request.header("Authorization") + " " + key, asked(request, body), body);
    }

    /** The draft leaves it to the server what it compares. */
    private @Nullable String asked(TinyRequest request, String body) {
        if (isDraft) {
            return body;
        }
        Requested requested = Requested.of(null, request, body.getBytes(StandardCharsets.UTF_8));
        return requested == null ? null : requested.fingerprint();
    }

    private TinyAnswer protect(String id, @Nullable String asked, String body) {
        if (asked == null) {
            return TinyAnswer.of(400, "{\"error\": \"not JSON\"}");
        }
        Kept fresh = new Kept(asked, new CompletableFuture<>());
        Kept present = kept.putIfAbsent(id, fresh);
        if (present == null) {
            TinyAnswer answer = run(body);
            fresh.answer().complete(answer);
            return answer;
        }
        if (!present.asked().equals(asked)) {
            return TinyAnswer.of(isDraft ? 422 : 400, "{\"error\": \"the key was used for another request\"}");
        }
        TinyAnswer answer = present.answer().getNow(null);
        if (answer == null) {
            return TinyAnswer.of(409, "{\"error\": \"it is still running\"}");
        }
        return isDraft ? answer : answer.with("Idempotent-Replayed", "true");
    }

    /** Failures are recorded too. */
    private TinyAnswer run(String body) {
        LockSupport.parkNanos(RUN_NANOS);
        if (body.contains("500")) {
            return TinyAnswer.of(500, "{\"error\": \"failed\"}");
        }
        return body.contains("-1")
                ? TinyAnswer.of(402, "{\"error\": \"declined\"}")
                : TinyAnswer.of(201, "{\"id\": \"pay_" + effects.incrementAndGet() + "\"}");
    }

    @Override
    public void close() {
        server.close();
    }
}
