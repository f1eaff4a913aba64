package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.messages.ReceivedMessage;
import dev.onlyonce.sql.outbox.Outbox;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The guide to Kafka")
class KafkaGuideTest {
    private static final Path PAGE = Path.of(System.getProperty("onlyonce.root"), "docs/guides/kafka.md");
    private static final Path SOURCE = Path.of("src/test/java/dev/onlyonce/kafka/KafkaGuideTest.java");
    private static final Pattern JAVA = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    private final Broker broker = Broker.shared();
    private final String servers = broker.server.address();
    private final Carrier carrier = new Carrier();

    private record Order(String id) {
        static Order decode(ReceivedMessage message) {
            return new Order(Ledger.text(message));
        }
    }

    private static final class Carrier {
        private final Queue<String> shipped = new ConcurrentLinkedQueue<>();

        private void ship(Order order, String key) {
            shipped.add(order.id + " " + !key.isEmpty());
        }
    }

    private static void insertInvoice(Connection transaction, Order order) throws SQLException {
        Ledger.write(transaction, order.id);
    }

    @Test
    @DisplayName("shows code that consumes")
    void consume() throws Exception {
        broker.create("orders", 1, Map.of());
        broker.create("orders.dead", 1, Map.of());
        try (Ledger ledger = new Ledger()) {
            Onlyonce once = ledger.once;
            KafkaInbox inbox = KafkaInbox.builder(
                            once, Map.of("bootstrap.servers", servers, "group.id", "billing"), Order::decode)
                    .topics("orders")
                    .id(MessageId.cloudEvent().orElse(MessageId.header("message-id")))
                    .transactional((transaction, order, message) -> insertInvoice(transaction, order));
            inbox.start();

            KafkaInbox shipping = KafkaInbox.builder(
                            once, Map.of("bootstrap.servers", servers, "group.id", "shipping"), Order::decode)
                    .topics("orders")
                    .leased("ship order", (claim, order, message) -> carrier.ship(order, claim.downstreamKey("ship")));
            shipping.start();

            try (inbox;
                    shipping) {
                broker.send("orders", "customer", "7", "order 7");
                broker.flush();
                Broker.until(() -> inbox.counts().applied() == 1);
                assertThat(ledger.effects()).containsExactly("order 7");
                // It has no CloudEvents id.
                assertThat(Broker.header(broker.read("orders.dead", 1).get(0), "onlyonce-dead-group"))
                        .isEqualTo("shipping");
            }
        }
    }

    @Test
    @DisplayName("shows code that publishes, and what is published can be consumed")
    void publish() throws Exception {
        broker.create("payments", 1, Map.of());
        try (Ledger ledger = new Ledger()) {
            Onlyonce once = ledger.once;
            HikariDataSource dataSource = ledger.source;
            Key key = Key.of("shop", "publish", "order-7");
            byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
            byte[] customer = "customer-7".getBytes(StandardCharsets.UTF_8);
            Fingerprint fingerprint = Fingerprint.of(body);

            KafkaRelay relay = new KafkaRelay(Map.of("bootstrap.servers", servers), "/shop/orders");
            Outbox outbox =
                    Outbox.builder(once).handler(KafkaRelay.TOPIC, relay).build();
            outbox.start();

            try (Connection transaction = dataSource.getConnection()) {
                transaction.setAutoCommit(false);
                OutgoingMessage paid = OutgoingMessage.json("payments", customer, "com.example.order.paid", body);
                outbox.accept(transaction, key, fingerprint, String.class, paid.call(KafkaRelay.TOPIC));
                transaction.commit();
            }

            try (relay;
                    outbox) {
                ConsumerRecord<byte[], byte[]> record =
                        broker.read("payments", 1).get(0);
                assertThat(record.value()).isEqualTo(body);
                assertThat(Broker.header(record, "ce_type")).isEqualTo("com.example.order.paid");
            }
        }
    }

    @Test
    @DisplayName("has no code but that of this test, and names all reasons")
    void snippets() throws IOException {
        String page = Files.readString(PAGE);
        String source = plain(Files.readString(SOURCE));
        Matcher block = JAVA.matcher(page);
        int blocks = 0;
        while (block.find()) {
            assertThat(source).contains(plain(block.group(1)));
            blocks++;
        }
        assertThat(blocks).isEqualTo(3);
        for (DeadLetterReason reason : DeadLetterReason.values()) {
            assertThat(page).contains("`" + reason.code() + "`");
        }
    }

    private static String plain(String code) {
        return code.replaceAll("\\s+", "");
    }
}
