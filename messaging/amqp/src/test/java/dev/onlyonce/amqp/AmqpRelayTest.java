package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.GetResponse;
import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.faults.TcpProxy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The relay")
class AmqpRelayTest {
    private Broker broker;
    private String queue;

    /** The broker of these tests. */
    Broker broker() {
        return Broker.qpid();
    }

    @BeforeEach
    void open() {
        broker = broker();
        queue = broker.queue();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static OutgoingMessage paid(String destination) {
        return OutgoingMessage.json(destination, bytes("customer-7"), "order.paid", bytes("paid 1"));
    }

    private static OutboxRow row(OutgoingMessage message) {
        byte[] payload = message.call(AmqpRelay.TOPIC).payload();
        return new OutboxRow(
                1,
                Key.of("shop", "publish", "order-1"),
                AmqpRelay.TOPIC,
                payload,
                1,
                Instant.EPOCH,
                null,
                null,
                false,
                null);
    }

    @Test
    @DisplayName("N5 publishes what a transaction accepted if it commits, with an id that a consumer applies once")
    void publishes() throws Exception {
        try (Ledger ledger = new Ledger();
                AmqpRelay relay = new AmqpRelay(broker.factory(), "/orders");
                Outbox outbox = Outbox.builder(ledger.once)
                        .handler(AmqpRelay.TOPIC, relay)
                        .build()) {
            Key kept = Key.of("shop", "publish", "order-1");
            accept(outbox, ledger, kept, true);
            accept(outbox, ledger, Key.of("shop", "publish", "order-2"), false);
            outbox.start();
            Outcome<String> outcome = outbox.await(
                            kept, Fingerprint.of(bytes("paid 1")), String.class, Duration.ofSeconds(60))
                    .orElseThrow();
            GetResponse message = broker.read(queue, 1).get(0);
            AMQP.BasicProperties properties = message.getProps();
            assertThat(outcome.orElseThrow()).isEqualTo(properties.getMessageId());
            assertThat(message.getBody()).isEqualTo(bytes("paid 1"));
            assertThat(properties.getDeliveryMode()).isEqualTo(2);
            assertThat(properties.getContentType()).isEqualTo("application/json");
            assertThat(Broker.header(message, "cloudEvents:specversion")).isEqualTo("1.0");
            assertThat(Broker.header(message, "cloudEvents:source")).isEqualTo("/orders");
            assertThat(Broker.header(message, "cloudEvents:type")).isEqualTo("order.paid");
            assertThat(Broker.header(message, "cloudEvents:id")).isEqualTo(properties.getMessageId());
            assertThat(Broker.header(message, "cloudEvents:partitionkey")).isEqualTo("customer-7");
            // Sent twice, as after a lost confirm.
            broker.publish(queue, properties.builder(), message.getBody());
            broker.publish(queue, properties.builder(), message.getBody());
            broker.flush();
            try (AmqpInbox inbox = AmqpInbox.builder(ledger.once, broker.factory(), Ledger::text)
                    .queue(queue)
                    .transactional((c, body, received) -> Ledger.write(c, body))) {
                inbox.start();
                Broker.until(() -> inbox.counts().repeated() == 1);
            }
            assertThat(ledger.effects()).containsExactly("paid 1");
        }
    }

    private void accept(Outbox outbox, Ledger ledger, Key key, boolean commits) throws Exception {
        try (Connection transaction = ledger.source.getConnection()) {
            transaction.setAutoCommit(false);
            assertThat(outbox.accept(
                                    transaction,
                                    key,
                                    Fingerprint.of(bytes("paid 1")),
                                    String.class,
                                    paid(queue).call(AmqpRelay.TOPIC))
                            .isNew())
                    .isTrue();
            if (commits) {
                transaction.commit();
            } else {
                transaction.rollback();
            }
        }
    }

    @Test
    @DisplayName("N5 publishes to an exchange with a routing key")
    void exchange() throws Exception {
        String exchange = "x" + queue;
        broker.channel().exchangeDeclare(exchange, "topic", true);
        broker.channel().queueBind(queue, exchange, "order.#");
        try (AmqpRelay relay = new AmqpRelay(broker.factory(), "127.0.0.1:" + broker.port(), "/orders")) {
            assertThat(relay.deliver(row(paid(exchange + "/order.paid/7")))).isInstanceOf(Delivery.Delivered.class);
            assertThat(relay.deliver(row(paid("/" + queue)))).isInstanceOf(Delivery.Delivered.class);
            assertThat(broker.read(queue, 2)).allMatch(message -> message.getBody().length == 6);
            // Nobody has bound a queue to it: the message would be dropped.
            assertThat(relay.deliver(row(paid(exchange + "/invoice.paid")))).isInstanceOf(Delivery.Ambiguous.class);
        }
        broker.channel().exchangeDelete(exchange);
    }

    @Test
    @DisplayName("N5 leaves a message that the broker returns or refuses in doubt, so that the outbox keeps it")
    void refused() throws Exception {
        try (AmqpRelay relay = new AmqpRelay(broker.factory(), "/orders")) {
            assertThat(relay.deliver(row(paid("no-such-queue")))).isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row(paid("no-such-exchange/key")))).isInstanceOf(Delivery.Ambiguous.class);
            assertThat(relay.deliver(row(paid("k".repeat(300))))).isInstanceOf(Delivery.Ambiguous.class);
            // Each had a channel of its own: the next message is none the worse.
            assertThat(relay.deliver(row(paid(queue)))).isInstanceOf(Delivery.Delivered.class);
            assertThat(relay.deliver(row(paid(queue)))).isInstanceOf(Delivery.Delivered.class);
        }
    }

    @Test
    @DisplayName("N5 does not know whether a message was published whose confirm is lost")
    void confirmLost() throws Exception {
        AtomicReference<TcpProxy.Fate> answers = new AtomicReference<>(TcpProxy.Fate.PASS);
        try (TcpProxy network = TcpProxy.open(
                        0,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port()),
                        (link, fromClient, begins) -> fromClient ? TcpProxy.Fate.PASS : answers.get());
                AmqpRelay relay = new AmqpRelay(Broker.factory(network.port()), "/orders")) {
            assertThat(relay.deliver(row(paid(queue)))).isInstanceOf(Delivery.Delivered.class);
            answers.set(TcpProxy.Fate.RESET);
            assertThat(relay.deliver(row(paid(queue)))).isInstanceOf(Delivery.Ambiguous.class);
            // It cannot connect.
            assertThat(relay.deliver(row(paid(queue)))).isInstanceOf(Delivery.Ambiguous.class);
            answers.set(TcpProxy.Fate.PASS);
            assertThat(relay.deliver(row(paid(queue)))).isInstanceOf(Delivery.Delivered.class);
        }
        assertThat(broker.read(queue, 3))
                .extracting(message -> message.getProps().getMessageId())
                .containsOnly(row(paid(queue)).downstreamKey());
    }
}
