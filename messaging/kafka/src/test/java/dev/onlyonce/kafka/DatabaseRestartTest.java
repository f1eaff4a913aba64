package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A database that is killed and restarted")
class DatabaseRestartTest {
    @Test
    @DisplayName("makes messages wait; none is lost, applied twice or given up")
    void restart() throws Exception {
        Broker broker = Broker.shared();
        try (DatabaseServer server = PostgresServer.start();
                Ledger ledger = Ledger.in(server)) {
            String topic = broker.topic(2);
            for (int i = 0; i < 300; i++) {
                broker.send(topic, "key" + i % 10, "id" + i, "body" + i);
            }
            broker.flush();
            AtomicBoolean killed = new AtomicBoolean();
            try (KafkaInbox inbox = KafkaInbox.builder(ledger.once, broker.consumer("database-restart"), Ledger::text)
                    .topics(topic)
                    .id(MessageId.header("message-id"))
                    .transactional((c, body, message) -> {
                        Ledger.write(c, body);
                        if (body.equals("body150") && killed.compareAndSet(false, true)) {
                            server.kill();
                        }
                    })) {
                inbox.start();
                Broker.until(killed::get);
                server.restart();
                Broker.until(() -> inbox.counts().applied() >= 300);
                assertThat(inbox.counts().dead()).isZero();
            }
            assertThat(ledger.effects()).hasSize(300).doesNotHaveDuplicates();
        }
    }
}
