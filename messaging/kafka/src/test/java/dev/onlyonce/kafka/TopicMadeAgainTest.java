package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.messages.MessageId;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Offsets begin at 0 again, so the same partition and offset is another message. */
@DisplayName("A Kafka topic that is deleted and made again")
class TopicMadeAgainTest {
    private final Broker broker = Broker.shared();
    private Ledger ledger;
    private String topic;

    @BeforeEach
    void open() throws Exception {
        ledger = new Ledger();
        topic = broker.topic(1);
    }

    @AfterEach
    void close() {
        ledger.close();
    }

    private KafkaInbox inbox() {
        KafkaInbox inbox = KafkaInbox.builder(ledger.once, broker.consumer("group-" + topic), Ledger::text)
                .topics(topic)
                .id(MessageId.coordinates())
                .transactional((c, body, message) -> Ledger.write(c, body));
        inbox.start();
        return inbox;
    }

    private void send(int messages, String body) {
        for (int i = 0; i < messages; i++) {
            broker.send(topic, "k", "id", body);
        }
        broker.flush();
    }

    private void makeAgain() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.server.address()))) {
            admin.deleteTopics(List.of(topic)).all().get();
            Broker.until(() -> !names(admin).contains(topic));
        }
        broker.create(topic, 1, Map.of());
    }

    private static Set<String> names(Admin admin) {
        try {
            return admin.listTopics().names().get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("N3 has new messages at old coordinates, and each of them is applied")
    void madeAgain(boolean running) throws Exception {
        send(13, "old");
        KafkaInbox first = inbox();
        Broker.until(() -> first.counts().applied() == 13);
        if (!running) {
            first.close();
        }
        makeAgain();
        KafkaInbox second = running ? first : inbox();
        send(30, "old");
        long before = running ? 13 : 0;
        Broker.until(() -> second.counts().applied() + second.counts().repeated() >= before + 30);
        second.close();
        assertThat(second.counts().repeated()).isZero();
        assertThat(ledger.effects()).hasSize(43);
    }
}
