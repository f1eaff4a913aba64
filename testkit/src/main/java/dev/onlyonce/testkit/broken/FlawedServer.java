package dev.onlyonce.testkit.broken;

import dev.onlyonce.check.EffectCounter;
import dev.onlyonce.check.Plan;
import dev.onlyonce.check.Standard;
import dev.onlyonce.check.wire.HeaderLine;
import java.io.EOFException;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A small API with idempotency keys that keeps every promise but one. What a request goes through:
 *
 * <ol>
 *   <li>Methods other than POST and PATCH need no key.
 *   <li>The key is read; what is not a key gets 400.
 *   <li>The body is read; what is too large, of another type or not JSON is refused, and the key stays free.
 *   <li>The key is claimed together with the fingerprint; a claimed one is compared, then replayed or refused.
 *   <li>It runs; a failure releases the claim, anything else is recorded before it is answered.
 * </ol>
 */
public final class FlawedServer implements AutoCloseable {
    private static final int BODY_BYTES_MAX = 1 << 20;
    /** Long enough for other requests to meet it. */
    private static final long RUN_NANOS = Duration.ofMillis(60).toNanos();

    private static final int MANY = 12;

    private final @Nullable Flaw flaw;
    private final TinyServer server;
    private final Map<String, KeyEntry> entries = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> inFlight = new ConcurrentHashMap<>();
    /** Requests in flight that have not found out yet whether their key is claimed. */
    private final Map<String, Set<TinyRequest>> unclaimed = new ConcurrentHashMap<>();

    private final AtomicInteger effects = new AtomicInteger();
    private final AtomicInteger total = new AtomicInteger();
    private final Duration countedAfter;
    private final Forgetting forgetting;

    private FlawedServer(@Nullable Flaw flaw, Duration countedAfter) {
        this.flaw = flaw;
        this.countedAfter = countedAfter;
        this.forgetting = new Forgetting(flaw, entries);
        this.server = TinyServer.start(this::handle);
    }

    /** With this flaw; null for none. */
    public static FlawedServer start(@Nullable Flaw flaw) {
        return new FlawedServer(flaw, Duration.ZERO);
    }

    /** Without a flaw. Its effects are counted a while after their answers. */
    public static FlawedServer countingLate(Duration after) {
        return new FlawedServer(null, after);
    }

    /** A plan with which every check applies, except that of HTTP/2. */
    public Plan.Builder plan() {
        return Plan.builder(server.url("/payments"), "{\"amount\": 7, \"to\": \"bob\"}")
                .headers(List.of(new HeaderLine("Authorization", "Bearer one")))
                .secondTenant(List.of(new HeaderLine("Authorization", "Bearer two")))
                .counter(EffectCounter.parse(server.url("/count#/effects").toString()))
                .secondUrl(server.url("/refunds"))
                .putUrl(server.url("/payments/1"))
                .deleteUrl(server.url("/payments/1"))
                .refused(Plan.Variation.body("{\"amount\": -1}"))
                .failing(Plan.Variation.body("{\"amount\": 500}"))
                .otherBody("{\"amount\": 7, \"to\": \"carol\"}")
                .standard(Standard.STRICT)
                .rememberedFor(flaw == Flaw.FORGETS_SOON ? Forgetting.SOON.plusSeconds(1) : Duration.ZERO)
                .quietFor(Duration.ofSeconds(flaw == Flaw.LATE_EFFECT ? 3 : 0))
                .patience(Duration.ofSeconds(4));
    }

    /** Where it takes payments. */
    public URI url() {
        return server.url("/payments");
    }

    private TinyAnswer handle(TinyRequest request) throws IOException {
        boolean keyed = request.method().equals("POST") || request.method().equals("PATCH");
        if (request.path().equals("/count")) {
            return TinyAnswer.of(200, "{\"effects\": " + forgetting.counted(effects, countedAfter) + "}");
        }
        if (!keyed) {
            request.body();
            boolean asks = flaw == Flaw.NO_KEY_METHODS && request.header("Idempotency-Key") == null;
            return asks ? TinyAnswer.of(400, "{\"error\": \"no key\"}") : TinyAnswer.of(200, "{}");
        }
        if (flaw == Flaw.HOP_BY_HOP && request.lines("Connection").toString().contains("Idempotency-Key")) {
            return run("", new String(request.body(), StandardCharsets.UTF_8));
        }
        String key = KeySyntax.of(flaw).read(request.lines("Idempotency-Key"));
        if (key == null || key.equals(KeySyntax.OVERFLOW)) {
            request.body();
            return TinyAnswer.of(key == null ? 400 : 500, "{\"error\": \"the key is missing or malformed\"}");
        }
        String tenant = flaw == Flaw.OTHER_TENANT ? "all" : String.valueOf(request.header("Authorization"));
        return count(tenant + " " + key, request);
    }

    private TinyAnswer count(String id, TinyRequest request) throws IOException {
        AtomicInteger flying = inFlight.computeIfAbsent(id, any -> new AtomicInteger());
        flying.incrementAndGet();
        total.incrementAndGet();
        unclaimed(id).add(request);
        try {
            return protect(request, id);
        } finally {
            unclaimed(id).remove(request);
            flying.decrementAndGet();
            total.decrementAndGet();
        }
    }

    private Set<TinyRequest> unclaimed(String id) {
        return unclaimed.computeIfAbsent(id, any -> ConcurrentHashMap.newKeySet());
    }

    private TinyAnswer protect(TinyRequest request, String id) throws IOException {
        forgetting.beforeRequest();
        boolean free = !entries.containsKey(id);
        byte[] bytes = body(request, id);
        if (bytes.length > BODY_BYTES_MAX) {
            return refuse(id, 413, flaw == Flaw.TOO_LARGE);
        }
        if (!"application/json".equals(request.header("Content-Type"))) {
            return refuse(id, 415, flaw == Flaw.UNSUPPORTED_TYPE);
        }
        Requested requested = Requested.of(flaw, request, bytes);
        if (requested == null) {
            return refuse(id, 400, false);
        }
        KeyEntry entry = new KeyEntry(requested);
        KeyEntry present = entries.putIfAbsent(id, entry);
        if (flaw == Flaw.SLOW_REQUEST && request.isSlow() && free) {
            present = null;
        }
        if (present != null && isRaceLost(id, present)) {
            present = null;
        }
        if (flaw == Flaw.HANG_UP && present != null && request.isClientGone()) {
            // Its retry overtook it on a busy machine; the key ends as if it had not.
            entries.put(id, entry);
        }
        boolean running = present != null && present.isRunning();
        unclaimed(id).remove(request);
        return present == null ? execute(request, id, entry, requested) : again(request, present, running, requested);
    }

    private byte[] body(TinyRequest request, String id) throws IOException {
        if (flaw != Flaw.HALF_SENT) {
            return request.body();
        }
        try {
            byte[] bytes = request.body();
            // Whoever hung up before this request was sent has claimed the key before.
            unclaimed(id).remove(request);
            server.awaitHeads();
            TinyServer.await(() -> unclaimed(id).isEmpty());
            return bytes;
        } catch (EOFException e) {
            entries.putIfAbsent(id, new KeyEntry(null));
            throw e;
        }
    }

    private boolean isRaceLost(String id, KeyEntry present) throws IOException {
        boolean risky = flaw == Flaw.RACE
                || (flaw == Flaw.RACE_SOMETIMES && Math.floorMod(id.hashCode(), 5) == 0)
                || (flaw == Flaw.RACE_UNDER_LOAD && total.get() > MANY);
        if (!risky || !present.isRunning()) {
            return false;
        }
        server.awaitHeads();
        AtomicInteger flying = inFlight.get(id);
        return flying != null && flying.get() > 2;
    }

    private TinyAnswer refuse(String id, int status, boolean burn) {
        if (burn) {
            entries.putIfAbsent(id, new KeyEntry(null));
        }
        return TinyAnswer.of(status, "{\"error\": \"refused\"}");
    }

    private TinyAnswer again(TinyRequest request, KeyEntry present, boolean running, Requested requested) {
        if (flaw == Flaw.WHILE_RUNNING && running) {
            return replay(present.await());
        }
        boolean ended = flaw == Flaw.OTHER_BODY && present.isSuccess();
        boolean same = ended ? present.target().equals(requested.target()) : present.isFor(requested);
        if (!same) {
            return TinyAnswer.of(422, "{\"error\": \"the key was used for another request\"}");
        }
        TinyAnswer answer = running ? null : present.answer();
        if (answer != null) {
            return replay(answer);
        }
        TinyAnswer conflict = TinyAnswer.of(409, "{\"error\": \"" + request.path() + " is still running\"}");
        boolean silent = flaw == Flaw.LOSERS || (flaw == Flaw.SERVER_ERROR && requested.isFailing());
        return silent ? conflict : conflict.with("Retry-After", "1");
    }

    private TinyAnswer replay(TinyAnswer stored) {
        forgetting.replayed();
        TinyAnswer answer = flaw == Flaw.REPLAY ? stored.without("Location") : stored;
        answer = flaw == Flaw.MARKED ? answer : answer.with("Idempotent-Replayed", "true");
        return answer.has("Date") ? answer : answer.with("Date", HttpDates.now());
    }

    private TinyAnswer execute(TinyRequest request, String id, KeyEntry entry, Requested requested) throws IOException {
        if (requested.isFailing()) {
            if (flaw == Flaw.EFFECT_BEFORE_FAILURE) {
                effects.incrementAndGet();
            }
            if (flaw != Flaw.SERVER_ERROR && flaw != Flaw.STUCK_AFTER_FAILURE) {
                entries.remove(id, entry);
            }
            return TinyAnswer.of(500, "{\"error\": \"failed\"}");
        }
        TinyAnswer answer =
                requested.isDeclined() ? TinyAnswer.of(402, "{\"error\": \"declined\"}") : run(id, requested.body());
        if (flaw == Flaw.EFFECT_BEFORE_REFUSAL && requested.isDeclined()) {
            effects.incrementAndGet();
            entries.remove(id, entry);
        }
        boolean forgotten = (flaw == Flaw.CLIENT_ERROR && requested.isDeclined())
                || (flaw == Flaw.HANG_UP && request.isClientGone());
        if (!forgotten) {
            entry.end(stored(answer));
        }
        return answer.has("Date") ? answer : answer.with("Date", HttpDates.now());
    }

    /** Ends after all requests with this key that were sent before have met it, however busy the machine is. */
    private TinyAnswer run(String id, String body) throws IOException {
        LockSupport.parkNanos(RUN_NANOS);
        server.awaitHeads();
        TinyServer.await(() -> unclaimed(id).isEmpty());
        String payment = "pay_" + effects.incrementAndGet();
        forgetting.happened();
        TinyAnswer answer = TinyAnswer.of(201, "{\"id\": \"" + payment + "\", \"request\": " + body.strip() + "}")
                .with("Location", "/payments/" + payment)
                .with("Set-Cookie", "session=" + payment)
                .with("Date", HttpDates.now());
        return flaw == Flaw.EXPIRES ? answer : answer.with("Idempotency-Key-Expires", HttpDates.tomorrow());
    }

    private TinyAnswer stored(TinyAnswer answer) {
        TinyAnswer kept = flaw == Flaw.SET_COOKIE ? answer : answer.without("Set-Cookie");
        return flaw == Flaw.DATE ? kept : kept.without("Date");
    }

    @Override
    public void close() {
        server.close();
    }
}
