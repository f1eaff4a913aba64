package dev.onlyonce.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.ElasticMq;
import dev.onlyonce.testservers.PostgresServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A server that is killed and restarted")
class RestartTest {
    private static SqsInbox.Builder<String> builder(Broker broker, String queue, Ledger ledger) {
        return SqsInbox.builder(ledger.once, broker.client, Ledger::text)
                .queue(queue)
                .longPoll(Duration.ofSeconds(1))
                .visibility(Duration.ofSeconds(2))
                .retries(SqsInboxTest.QUICK)
                .id(MessageId.header("message-id"));
    }

    @Test
    @DisplayName("N4 as SQS, delivers again what it does not know to be done, and it is applied once")
    void service() throws Exception {
        try (Broker broker = new Broker(ElasticMq.startDurable());
                Ledger ledger = new Ledger()) {
            String queue = broker.queue();
            for (int i = 0; i < 200; i++) {
                broker.send(queue, "id" + i, "body" + i);
            }
            AtomicBoolean killed = new AtomicBoolean();
            try (SqsInbox inbox = builder(broker, queue, ledger).transactional((c, body, message) -> {
                Ledger.write(c, body);
                if (body.equals("body150") && killed.compareAndSet(false, true)) {
                    // In mid-batch: what is applied in it cannot be deleted after it.
                    broker.server.kill();
                }
            })) {
                inbox.start();
                Broker.until(() -> ledger.effects().contains("body150"));
                broker.server.restart();
                for (int i = 200; i < 250; i++) {
                    String id = "id" + i;
                    String body = "body" + i;
                    Broker.until(() -> isSent(broker, queue, id, body));
                }
                Broker.until(() -> inbox.counts().applied() == 250 && broker.size(queue) == 0);
            }
            assertThat(ledger.effects()).hasSize(250).doesNotHaveDuplicates();
        }
    }

    /** It answers before it has all its queues again. */
    private static boolean isSent(Broker broker, String queue, String id, String body) {
        try {
            broker.send(queue, id, body);
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    @Test
    @DisplayName("N4 as database, makes messages wait; none is lost, applied twice or given up")
    void database() throws Exception {
        Broker broker = Broker.shared();
        try (DatabaseServer server = PostgresServer.start();
                Ledger ledger = Ledger.in(server)) {
            String queue = broker.queue();
            for (int i = 0; i < 200; i++) {
                broker.send(queue, "id" + i, "body" + i);
            }
            AtomicBoolean killed = new AtomicBoolean();
            try (SqsInbox inbox = builder(broker, queue, ledger).transactional((c, body, message) -> {
                Ledger.write(c, body);
                if (body.equals("body150") && killed.compareAndSet(false, true)) {
                    server.kill();
                }
            })) {
                inbox.start();
                Broker.until(killed::get);
                server.restart();
                Broker.until(() -> inbox.counts().applied() >= 200);
                assertThat(inbox.counts().dead()).isZero();
            }
            assertThat(ledger.effects()).hasSize(200).doesNotHaveDuplicates();
        }
    }
}
