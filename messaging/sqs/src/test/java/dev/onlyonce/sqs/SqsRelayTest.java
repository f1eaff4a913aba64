package dev.onlyonce.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;

@DisplayName("The relay to SQS")
class SqsRelayTest {
    private final Broker broker = Broker.shared();

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    @DisplayName("N5 publishes what a transaction accepted if it commits, with an id that a consumer applies once")
    void publishes() throws Exception {
        String queue = broker.queue();
        try (Ledger ledger = new Ledger();
                Outbox outbox = Outbox.builder(ledger.once)
                        .handler(SqsRelay.TOPIC, new SqsRelay(broker.client, "/orders"))
                        .build()) {
            Key kept = Key.of("shop", "publish", "order-1");
            accept(outbox, ledger, kept, queue, true);
            accept(outbox, ledger, Key.of("shop", "publish", "order-2"), queue, false);
            outbox.start();
            Outcome<String> outcome = outbox.await(
                            kept, Fingerprint.of(bytes("paid 1")), String.class, Duration.ofSeconds(60))
                    .orElseThrow();
            Message message = broker.take(queue, 1).get(0);
            assertThat(outcome.orElseThrow()).isEqualTo(message.messageId());
            assertThat(message.body()).isEqualTo("paid 1");
            assertThat(Broker.attribute(message, "ce_specversion")).isEqualTo("1.0");
            assertThat(Broker.attribute(message, "ce_source")).isEqualTo("/orders");
            assertThat(Broker.attribute(message, "ce_type")).isEqualTo("order.paid");
            assertThat(Broker.attribute(message, "content-type")).isEqualTo("application/json");
            assertThat(Broker.attribute(message, "ce_id")).isNotEmpty();
            assertThat(broker.size(queue)).isZero();
            // Sent twice, as after a lost answer.
            broker.send(queue, null, message.messageAttributes(), message.body())
                    .join();
            broker.send(queue, null, message.messageAttributes(), message.body())
                    .join();
            try (SqsInbox inbox = SqsInbox.builder(ledger.once, broker.client, Ledger::text)
                    .queue(queue)
                    .longPoll(Duration.ofSeconds(1))
                    .transactional((c, body, received) -> Ledger.write(c, body))) {
                inbox.start();
                Broker.until(() -> inbox.counts().repeated() == 1);
            }
            assertThat(ledger.effects()).containsExactly("paid 1");
        }
    }

    private static void accept(Outbox outbox, Ledger ledger, Key key, String queue, boolean commits) throws Exception {
        OutgoingMessage outgoing = OutgoingMessage.json(queue, bytes("customer-7"), "order.paid", bytes("paid 1"));
        try (Connection transaction = ledger.source.getConnection()) {
            transaction.setAutoCommit(false);
            assertThat(outbox.accept(
                                    transaction,
                                    key,
                                    Fingerprint.of(bytes("paid 1")),
                                    String.class,
                                    outgoing.call(SqsRelay.TOPIC))
                            .isNew())
                    .isTrue();
            if (commits) {
                transaction.commit();
            } else {
                transaction.rollback();
            }
        }
    }

    private static OutboxRow row(String destination, byte[] key, byte[] body) {
        byte[] payload = OutgoingMessage.json(destination, key, "order.paid", body)
                .call(SqsRelay.TOPIC)
                .payload();
        return new OutboxRow(
                1,
                Key.of("shop", "publish", "order"),
                SqsRelay.TOPIC,
                payload,
                1,
                Instant.EPOCH,
                null,
                null,
                false,
                null,
                null);
    }

    @Test
    @DisplayName("N5 lets a FIFO queue drop what is published twice, and groups messages by key")
    void fifo() throws Exception {
        String queue = broker.fifo();
        SqsRelay relay = new SqsRelay(broker.client, "/orders");
        OutboxRow row = row(queue, bytes("customer-7"), bytes("paid"));
        Delivery first = relay.deliver(row);
        Delivery second = relay.deliver(row);
        assertThat(first).isInstanceOf(Delivery.Delivered.class);
        assertThat(((Delivery.Delivered) second).providerId()).isEqualTo(((Delivery.Delivered) first).providerId());
        List<Message> messages = broker.take(queue, 1);
        assertThat(messages).hasSize(1);
        assertThat(messages.get(0).attributesAsStrings())
                .containsEntry("MessageGroupId", "customer-7")
                .containsEntry("MessageDeduplicationId", row.downstreamKey());
        assertThat(broker.size(queue)).isZero();
        // A key that is no message group.
        String other = broker.fifo();
        assertThat(relay.deliver(row(other, bytes("Käufer 7".repeat(50)), bytes("paid"))))
                .isInstanceOf(Delivery.Delivered.class);
        assertThat(broker.take(other, 1).get(0).attributesAsStrings().get("MessageGroupId"))
                .startsWith("sha256/");
    }

    @Test
    @DisplayName("N5 leaves whatever was not published in doubt, so that the outbox keeps it")
    void failures() throws Exception {
        String queue = broker.queue();
        Faults faults = new Faults();
        try (SqsAsyncClient faulty = Broker.client(broker.server.endpoint(), faults);
                SqsAsyncClient nowhere = Broker.client("http://127.0.0.1:1")) {
            SqsRelay relay = new SqsRelay(faulty, "/orders");
            assertThat(relay.deliver(row("no-such-queue", null, bytes("x")))).isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row(broker.url(queue) + "x", null, bytes("x"))))
                    .isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row(queue, null, bytes("x".repeat((1 << 20) + 1)))))
                    .isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row(queue, null, new byte[] {(byte) 0xc3, 0x28})))
                    .isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row(queue, null, bytes("\u0000")))).isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row(queue, null, new byte[0]))).isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row("q.fifo", null, bytes("x")))).isInstanceOf(Delivery.Ambiguous.class);
            for (String trouble :
                    List.of("RequestThrottled", "ExpiredTokenException", "AccessDenied", "InvalidMessageContents")) {
                faults.rejectWith(trouble);
                assertThat(relay.deliver(row(queue, null, bytes("x"))))
                        .as(trouble)
                        .isInstanceOf(Delivery.Ambiguous.class);
            }
            faults.reject(request -> false);
            faults.lose(request -> request instanceof SendMessageRequest);
            assertThat(relay.deliver(row(queue, null, bytes("x")))).isInstanceOf(Delivery.Ambiguous.class);
            SqsRelay cut = new SqsRelay(nowhere, "/orders");
            assertThat(cut.deliver(row(queue, null, bytes("x")))).isInstanceOf(Delivery.Ambiguous.class);
            assertThat(cut.deliver(row("http://127.0.0.1:1/0/" + queue, null, bytes("x"))))
                    .isInstanceOf(Delivery.Ambiguous.class);
        }
        assertThat(broker.take(queue, 1).get(0).body()).isEqualTo("x");
        assertThat(broker.size(queue)).isZero();
    }
}
