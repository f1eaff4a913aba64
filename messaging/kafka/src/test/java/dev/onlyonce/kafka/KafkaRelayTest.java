package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The relay")
class KafkaRelayTest {
    private final Broker broker = Broker.shared();
    private String topic;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    @DisplayName("N5 publishes what a transaction accepted if it commits, with an id that a consumer applies once")
    void publishes() throws Exception {
        topic = broker.topic(1);
        try (Ledger ledger = new Ledger();
                KafkaRelay relay = new KafkaRelay(Map.of("bootstrap.servers", broker.server.address()), "/orders");
                Outbox outbox = Outbox.builder(ledger.once)
                        .handler(KafkaRelay.TOPIC, relay)
                        .build()) {
            Key kept = Key.of("shop", "publish", "order-1");
            Fingerprint fingerprint = Fingerprint.of(bytes("paid 1"));
            accept(outbox, ledger, kept, true);
            accept(outbox, ledger, Key.of("shop", "publish", "order-2"), false);
            outbox.start();
            Outcome<String> outcome = outbox.await(kept, fingerprint, String.class, Duration.ofSeconds(60))
                    .orElseThrow();
            assertThat(outcome.orElseThrow()).isEqualTo(topic + "-0-0");
            // Sent a second time, as after a lost acknowledgement.
            List<ConsumerRecord<byte[], byte[]>> records = broker.read(topic, 1);
            assertThat(records).hasSize(1);
            ConsumerRecord<byte[], byte[]> record = records.get(0);
            assertThat(record.key()).isEqualTo(bytes("customer-7"));
            assertThat(record.value()).isEqualTo(bytes("paid 1"));
            assertThat(Broker.header(record, "ce_specversion")).isEqualTo("1.0");
            assertThat(Broker.header(record, "ce_source")).isEqualTo("/orders");
            assertThat(Broker.header(record, "ce_type")).isEqualTo("order.paid");
            assertThat(Broker.header(record, "content-type")).isEqualTo("application/json");
            assertThat(Broker.header(record, "ce_id")).isNotEmpty();
            broker.resend(record);
            broker.flush();
            try (KafkaInbox inbox = KafkaInbox.builder(ledger.once, broker.consumer("relayed"), Ledger::text)
                    .topics(topic)
                    .transactional((c, body, message) -> Ledger.write(c, body))) {
                inbox.start();
                Broker.until(() -> inbox.counts().repeated() == 1);
            }
            assertThat(ledger.effects()).containsExactly("paid 1");
        }
    }

    @Test
    @DisplayName("N5 keeps a message that the broker refuses as a dead letter, which holds up its own key alone")
    void refused() throws Exception {
        topic = broker.topic(1, Map.of("max.message.bytes", "1000"));
        try (Ledger ledger = new Ledger();
                KafkaRelay relay = new KafkaRelay(Map.of("bootstrap.servers", broker.server.address()), "/orders");
                Outbox outbox = Outbox.builder(ledger.once)
                        .handler(KafkaRelay.TOPIC, relay)
                        .triesMax(2)
                        .backoff(Duration.ofMillis(10), Duration.ofMillis(10))
                        .parkFor(Duration.ofMillis(50))
                        .build()) {
            String large = "x".repeat(2000);
            accept(outbox, ledger, "1", "a", large);
            accept(outbox, ledger, "2", "a", "behind it");
            accept(outbox, ledger, "3", "b", "another");
            outbox.start();
            Broker.until(() -> outbox.backlog(10).dead() == 1);
            assertThat(bodies(1)).containsExactly("another");
            OutboxRow dead = outbox.listDead(0, 10).get(0);
            assertThat(dead.lastError()).contains("RecordTooLarge");
            assertThat(outbox.backlog(10).waiting()).isEqualTo(1);
            broker.configure(topic, Map.of("max.message.bytes", "10000"));
            assertThat(outbox.retry(dead.id(), "operator", "the topic takes it now"))
                    .isTrue();
            Broker.until(() -> {
                // The broker takes a moment to use its new setting.
                outbox.listDead(0, 10).forEach(row -> outbox.retry(row.id(), "operator", "it takes it now"));
                return broker.size(topic) == 3;
            });
            assertThat(bodies(3)).containsExactly("another", large, "behind it");
        }
    }

    private List<String> bodies(int records) {
        return broker.read(topic, records).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    private void accept(Outbox outbox, Ledger ledger, String id, String key, String body) throws Exception {
        OutgoingMessage outgoing = OutgoingMessage.json(topic, bytes(key), "order.paid", bytes(body));
        try (Connection transaction = ledger.source.getConnection()) {
            transaction.setAutoCommit(false);
            outbox.accept(
                    transaction,
                    Key.of("shop", "publish", id),
                    Fingerprint.of(bytes(body)),
                    String.class,
                    outgoing.call(KafkaRelay.TOPIC));
            transaction.commit();
        }
    }

    private void accept(Outbox outbox, Ledger ledger, Key key, boolean commits) throws Exception {
        OutgoingMessage outgoing = OutgoingMessage.json(topic, bytes("customer-7"), "order.paid", bytes("paid 1"));
        try (Connection transaction = ledger.source.getConnection()) {
            transaction.setAutoCommit(false);
            assertThat(outbox.accept(
                                    transaction,
                                    key,
                                    Fingerprint.of(bytes("paid 1")),
                                    String.class,
                                    outgoing.call(KafkaRelay.TOPIC))
                            .isNew())
                    .isTrue();
            if (commits) {
                transaction.commit();
            } else {
                transaction.rollback();
            }
        }
    }
}
