package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.messages.MessageId;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A broker that is killed and restarted")
class BrokerRestartTest {
    /** The broker to kill. */
    Broker start() {
        return Broker.startQpid();
    }

    @Test
    @DisplayName("N4 delivers again what was not acknowledged, and it is applied once")
    void restart() throws Exception {
        try (Broker broker = start();
                Ledger ledger = new Ledger()) {
            String queue = broker.queue();
            send(broker, queue, 0, 300);
            AtomicBoolean killed = new AtomicBoolean();
            try (AmqpInbox inbox = AmqpInbox.builder(ledger.once, broker.factory(), Ledger::text)
                    .queue(queue)
                    .id(MessageId.header("message-id"))
                    .prefetch(100)
                    .transactional((c, body, message) -> {
                        Ledger.write(c, body);
                        if (body.equals("body200") && killed.compareAndSet(false, true)) {
                            // In mid-batch: it cannot be acknowledged after it.
                            broker.kill();
                        }
                    })) {
                inbox.start();
                Broker.until(() -> ledger.effects().contains("body200"));
                broker.restart();
                send(broker, queue, 300, 400);
                Broker.until(() -> ledger.effects().size() >= 400);
                Broker.until(() -> inbox.counts().repeated() > 0);
            }
            assertThat(ledger.effects()).hasSize(400).doesNotHaveDuplicates();
        }
    }

    private static void send(Broker broker, String queue, int from, int to) {
        for (int i = from; i < to; i++) {
            broker.send(queue, "key" + i % 10, "id" + i, "body" + i);
        }
        broker.flush();
    }
}
