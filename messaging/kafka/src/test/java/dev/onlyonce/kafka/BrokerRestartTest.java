package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.messages.MessageId;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

@Order(1)
@DisplayName("A broker that is killed and restarted")
class BrokerRestartTest {
    @Test
    @DisplayName("delivers again what it does not know to be done, and it is applied once")
    void restart() throws Exception {
        try (Broker broker = new Broker();
                Ledger ledger = new Ledger()) {
            String topic = broker.topic(2);
            for (int i = 0; i < 300; i++) {
                broker.send(topic, "key" + i % 10, "id" + i, "body" + i);
            }
            broker.flush();
            try (KafkaInbox inbox = KafkaInbox.builder(ledger.once, broker.consumer("broker-restart"), Ledger::text)
                    .topics(topic)
                    .id(MessageId.header("message-id"))
                    .transactional((c, body, message) -> {
                        Ledger.write(c, body);
                        if (body.equals("body200")) {
                            // In mid-batch: its offsets cannot be committed after it.
                            broker.server.kill();
                        }
                    })) {
                inbox.start();
                Broker.until(() -> ledger.effects().contains("body200"));
                broker.server.restart();
                for (int i = 300; i < 400; i++) {
                    broker.send(topic, "key" + i % 10, "id" + i, "body" + i);
                }
                broker.flush();
                Broker.until(() -> ledger.effects().size() >= 400);
            }
            assertThat(ledger.effects()).hasSize(400).doesNotHaveDuplicates();
        }
    }
}
