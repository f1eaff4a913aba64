package dev.onlyonce.payments.events;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.domain.Announcements;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.Refund;
import dev.onlyonce.sql.outbox.Accepted;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Events leave through an outbox of their own, in the same table as the charges. A charge that fails ten times is given up; an event has
 * happened, so it is tried for as long as it takes: one that was given up, and that nobody can have seen, is accepted again. Thread-safe.
 */
public final class EventOutbox implements Announcements, SmartLifecycle, AutoCloseable {
    /** Kafka's topic. */
    public static final String DESTINATION = "payments.events";

    private static final String TOPIC = "events";
    private static final int TRIES_MAX = 1_000_000;

    /** At the end of the key of an event, once for each time that its entry was gone. */
    private static final String AGAIN = "+";

    private static final int WORKERS = 16;
    /** With the starter's own outbox: before the web server takes requests, and until it has answered the last one. */
    private static final int PHASE = DEFAULT_PHASE - 4096;

    private static final Logger log = LoggerFactory.getLogger(EventOutbox.class);

    private final Outbox outbox;
    private volatile boolean running;

    /** Hands events to a relay, from {@link #start} on. */
    public EventOutbox(Onlyonce once, EventRelay relay) {
        outbox = Outbox.builder(once)
                .handler(TOPIC, new NeverGivenUp(relay.handler()))
                .triesMax(TRIES_MAX)
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
        OutgoingMessage message = OutgoingMessage.json(
                DESTINATION, event.paymentId().getBytes(StandardCharsets.UTF_8), event.type(), event.json());
        // Apart from the keys of clients, who may use a payment's id for their own requests.
        Key key = Key.of(event.tenant(), event.type(), event.id()).in(Scope.OPERATION);
        accept(sql.connection(), key, message);
    }

    private void accept(Connection transaction, Key key, OutgoingMessage message) {
        Accepted<String> accepted =
                outbox.accept(transaction, key, Fingerprint.of(message.body()), String.class, message.call(TOPIC));
        if (!accepted.isNew()) {
            // What has happened once is announced once. Roll back and try again, rather than lose it.
            throw new IllegalStateException(
                    key.operation() + " of " + key.value() + " cannot be announced now: " + accepted.outcome());
        }
    }

    /** Accepts an event again, under a key of its own, if it is proven that nobody has seen it. */
    private final class NeverGivenUp implements DeliveryHandler {
        private final DeliveryHandler handler;

        NeverGivenUp(DeliveryHandler handler) {
            this.handler = handler;
        }

        @Override
        public Delivery deliver(OutboxRow row) throws Exception {
            return handler.deliver(row);
        }

        @Override
        public Duration keyLifetime() {
            return handler.keyLifetime();
        }

        @Override
        public void settled(Connection transaction, OutboxRow row, Delivery delivery) throws Exception {
            handler.settled(transaction, row, delivery);
            if (delivery instanceof Delivery.NotExecuted not) {
                log.warn("Announced again: {}: {}", row, not.why());
                Key again = new Key(
                        row.key().tenant(),
                        row.key().operation(),
                        row.key().value() + AGAIN,
                        row.key().scope());
                accept(transaction, again, OutgoingMessage.of(row.payload()));
            }
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
