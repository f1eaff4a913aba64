package dev.onlyonce.payments.provider;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.http.HmacScheme;
import dev.onlyonce.http.WebhookScheme;
import dev.onlyonce.store.Time;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tells the customer of every movement: first that it was created, then how it ended. Tries again, with a growing pause, until
 * the customer says 2xx or the tries are used up. Undelivered ones do not survive the process: a webhook is a courtesy, and
 * receivers that rely on it alone are wrong.
 */
public final class Webhooks implements AutoCloseable {
    /** The header with the signature. */
    public static final String SIGNATURE_HEADER = "Provider-Signature";

    private static final int TRIES = 6;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .build();
    private final @Nullable URI url;
    private final HmacScheme scheme;
    private final HmacScheme forger = scheme("somebody else's secret");
    private final Time time;
    private final JsonMapper json;
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    /** An event, and who signs it. */
    private record Event(byte[] body, boolean forged) {}

    Webhooks(@Nullable URI url, HmacScheme scheme, Time time, JsonMapper json) {
        this.url = url;
        this.scheme = scheme;
        this.time = time;
        this.json = json;
    }

    /** Signed as Stripe's are, in a header of its own. */
    public static HmacScheme scheme(String secret) {
        return WebhookScheme.stripe(secret).toBuilder().header(SIGNATURE_HEADER).build();
    }

    /** Sends what there is to say about a new movement, as the faults have it. */
    void tell(Movement movement, Faults faults) {
        if (url == null || faults.strikes(Fault.WEBHOOK_NEVER, movement.id(), 0)) {
            return;
        }
        Event created = event(movement.kind() + ".created", movement, false);
        Event ended = event(movement.kind() + "." + movement.status(), movement, false);
        List<Event> events = faults.strikes(Fault.WEBHOOK_SWAPPED, movement.id(), 0)
                ? List.of(ended, created)
                : List.of(created, ended);
        if (faults.strikes(Fault.WEBHOOK_FORGED, movement.id(), 0)) {
            deliver(List.of(forged(movement)), 1, () -> {});
        }
        Runnable twice = faults.strikes(Fault.WEBHOOK_TWICE, movement.id(), 0) ? () -> send(events, 1) : () -> {};
        Duration late = faults.strikes(Fault.WEBHOOK_LATE, movement.id(), 0)
                ? faults.delay(Fault.WEBHOOK_LATE, movement.id(), 0)
                : Duration.ZERO;
        time.schedule(late, () -> deliver(events, 1, twice));
    }

    private Event event(String type, Movement movement, boolean forged) {
        Map<String, Object> event = new TreeMap<>();
        event.put("id", "evt_" + UUID.randomUUID());
        event.put("type", type);
        event.put("created_at", time.now().toEpochMilli());
        event.put("data", movement);
        return new Event(json.writeValueAsBytes(event), forged);
    }

    /** Says the opposite of the truth. */
    private Event forged(Movement m) {
        String opposite = m.succeeded() ? Movement.DECLINED : Movement.SUCCEEDED;
        Movement lie = new Movement(
                "ch_forged",
                m.kind(),
                opposite,
                m.amount(),
                m.currency(),
                m.reference(),
                m.chargeId(),
                m.idempotencyKey(),
                m.createdAt());
        return event(m.kind() + "." + opposite, lie, true);
    }

    private void send(List<Event> events, int attempt) {
        deliver(events, attempt, () -> {});
    }

    /** Delivers in order, each when the one before was taken; then does what is left to do. */
    private void deliver(List<Event> events, int attempt, Runnable then) {
        if (events.isEmpty()) {
            then.run();
            return;
        }
        Event event = events.get(0);
        HttpRequest request = HttpRequest.newBuilder(requireNonNull(url))
                .timeout(TIMEOUT)
                .header("Content-Type", "application/json")
                .header(SIGNATURE_HEADER, signature(event))
                .POST(HttpRequest.BodyPublishers.ofByteArray(event.body()))
                .build();
        var unused = client.sendAsync(request, HttpResponse.BodyHandlers.discarding())
                .whenComplete((answer, failure) -> {
                    boolean taken = failure == null && answer.statusCode() / 100 == 2;
                    count((event.forged() ? "forged_" : "") + (taken ? "taken" : "refused"));
                    if (event.forged()) {
                        return;
                    }
                    if (taken) {
                        deliver(events.subList(1, events.size()), 1, then);
                    } else if (attempt < TRIES) {
                        time.schedule(
                                FIRST_PAUSE.multipliedBy(1L << attempt), () -> deliver(events, attempt + 1, then));
                    } else {
                        count("given_up");
                    }
                });
    }

    private String signature(Event event) {
        return (event.forged() ? forger : scheme)
                .sign("", event.body(), time.now())
                .first(SIGNATURE_HEADER)
                .orElseThrow();
    }

    private void count(String what) {
        counts.computeIfAbsent(what, name -> new LongAdder()).increment();
    }

    Map<String, Long> counts() {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((what, count) -> sums.put(what, count.sum()));
        return sums;
    }

    @Override
    public void close() {
        time.close();
    }
}
