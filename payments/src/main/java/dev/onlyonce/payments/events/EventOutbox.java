package dev.onlyonce.payments.events;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.domain.Announcements;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.Refund;
import dev.onlyonce.sql.outbox.Accepted;
import dev.onlyonce.sql.outbox.Outbox;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.springframework.context.SmartLifecycle;

/**
 * Events leave through an outbox of their own, in the same table as the charges. A charge that fails ten times is given up; an event has
 * happened, so it is tried for as long as it takes. Thread-safe.
 */
public final class EventOutbox implements Announcements, SmartLifecycle, AutoCloseable {
    /** Kafka's topic. */
    public static final String DESTINATION = "payments.events";

    private static final String TOPIC = "events";
    private static final int TRIES_MAX = 1_000_000;
    /** The longest there is: how long an event waits for its first try, at worst behind another one of its payment. */
    private static final Duration WAIT_MAX = Duration.ofHours(24);

    private static final int WORKERS = 16;
    /** With the starter's own outbox: before the web server takes requests, and until it has answered the last one. */
    private static final int PHASE = DEFAULT_PHASE - 4096;

    private final Outbox outbox;
    private volatile boolean running;

    /** Hands events to a relay, from {@link #start} on. */
    public EventOutbox(Onlyonce once, EventRelay relay) {
        outbox = Outbox.builder(once)
                .handler(TOPIC, relay.handler())
                .triesMax(TRIES_MAX)
                .pendingMax(WAIT_MAX)
                .backoff(Duration.ofMillis(200), Duration.ofSeconds(5))
                .parkFor(Duration.ofSeconds(5))
                .concurrency(WORKERS)
                .build();
    }

    @Override
    public void paid(Sql sql, Payment payment) {
        accept(sql, PaymentEvent.of(payment));
    }

    @Override
    public void refunded(Sql sql, Payment payment, Refund refund) {
        accept(sql, PaymentEvent.of(payment, refund));
    }

    /** The events of a payment have one key, so that they leave in order. */
    private void accept(Sql sql, PaymentEvent event) {
        byte[] body = event.json();
        OutgoingMessage message = OutgoingMessage.json(
                DESTINATION, event.paymentId().getBytes(StandardCharsets.UTF_8), event.type(), body);
        Key key = Key.of(event.tenant(), event.type(), event.id());
        Accepted<String> accepted =
                outbox.accept(sql.connection(), key, Fingerprint.of(body), String.class, message.call(TOPIC));
        if (!accepted.isNew()) {
            // What has happened once is announced once. Roll back and try again, rather than lose it.
            throw new IllegalStateException(
                    event.type() + " of " + event.id() + " cannot be announced now: " + accepted.outcome());
        }
    }

    @Override
    public void start() {
        outbox.start();
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        outbox.stop();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    @Override
    public void close() {
        outbox.close();
    }
}
