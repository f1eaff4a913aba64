package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.GetResponse;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.testservers.RabbitMqServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** All tests again on RabbitMQ, where the machine has it. */
@DisplayName("On RabbitMQ with quorum queues")
class RabbitMqTest {
    @BeforeAll
    static void find() {
        if (!RabbitMqServer.isInstalled()) {
            System.err.println(
                    "==== NOT TESTED ON RABBITMQ: rabbitmq-server is not on the PATH. AMQP was tested on Qpid alone. ====");
        }
        assumeTrue(RabbitMqServer.isInstalled(), "rabbitmq-server is not on the PATH");
    }

    @Nested
    @DisplayName("an AMQP consumer")
    class Consumer extends AmqpInboxTest {
        @Override
        Broker broker() {
            return Broker.rabbitMq();
        }
    }

    @Nested
    @DisplayName("a consumer by contract")
    class Contract extends AmqpConsumerTest {
        @Override
        Broker broker() {
            return Broker.rabbitMq();
        }
    }

    @Nested
    @DisplayName("an AMQP consumer that loses its connection")
    class Lost extends ConnectionsLostTest {
        @Override
        Broker broker() {
            return Broker.rabbitMq();
        }
    }

    @Nested
    @DisplayName("a broker that is killed and restarted")
    class Restart extends BrokerRestartTest {
        @Override
        Broker start() {
            return Broker.startRabbitMq();
        }
    }

    @Nested
    @DisplayName("consumers that are killed")
    class Killed extends CrashTest {
        @Override
        Broker broker() {
            return Broker.rabbitMq();
        }
    }

    @Nested
    @DisplayName("the relay")
    class Relay extends AmqpRelayTest {
        @Override
        Broker broker() {
            return Broker.rabbitMq();
        }
    }

    @Test
    @DisplayName("dead letters take the way through a dead-letter exchange")
    void deadLetterExchange() throws Exception {
        Broker broker = Broker.rabbitMq();
        String queue = broker.queue();
        String exchange = "dlx" + queue;
        broker.channel().exchangeDeclare(exchange, "direct", true);
        broker.channel().queueBind(queue + ".dead", exchange, "orders");
        broker.publish(
                queue,
                new AMQP.BasicProperties.Builder().messageId("id").expiration("600000"),
                "poison".getBytes(StandardCharsets.UTF_8));
        broker.flush();
        try (Ledger ledger = new Ledger();
                AmqpInbox inbox = AmqpInbox.builder(ledger.once, broker.factory(), Ledger::text)
                        .queue(queue)
                        .id(MessageId.header("message-id"))
                        .deadLetterTo(exchange + "/orders")
                        .transactional((c, body, message) -> {
                            throw new PoisonMessage("no");
                        })) {
            inbox.start();
            GetResponse dead = broker.read(queue + ".dead", 1).get(0);
            assertThat(dead.getEnvelope().getExchange()).isEqualTo(exchange);
            assertThat(Broker.header(dead, "onlyonce-dead-reason")).isEqualTo("rejected");
            assertThat(dead.getProps().getExpiration()).isNull();
        }
        broker.untilEmpty(queue);
        broker.channel().exchangeDelete(exchange);
    }

    @Test
    @DisplayName("the guide is right about who consumes a queue with exclusive and with single active consumers")
    void exclusive() throws Exception {
        try (Connection connection = Broker.rabbitMq().factory().newConnection("test")) {
            String version = String.valueOf(connection.getServerProperties().get("version"));
            assumeTrue(version.startsWith("3."), "the guide speaks of RabbitMQ 3, this is " + version);
        }
        Map<String, Object> single = Map.of("x-single-active-consumer", true);
        assertThat(exclusiveConsumers(Map.of())).isEqualTo(1);
        assertThat(exclusiveConsumers(single)).isZero();
        assertThat(exclusiveConsumers(Map.of("x-queue-type", "quorum"))).isEqualTo(2);
        // Here RabbitMQ accepts both and delivers to one.
        assertThat(exclusiveConsumers(Map.of("x-queue-type", "quorum", "x-single-active-consumer", true)))
                .isEqualTo(2);
    }

    /** How many of two exclusive consumers a queue accepts. */
    private static int exclusiveConsumers(Map<String, Object> arguments) throws Exception {
        try (Connection connection = Broker.rabbitMq().factory().newConnection("test")) {
            String queue = "exclusive" + UUID.randomUUID();
            connection.createChannel().queueDeclare(queue, true, false, false, arguments);
            int accepted = 0;
            for (int i = 0; i < 2; i++) {
                try {
                    Channel channel = connection.createChannel();
                    channel.basicConsume(queue, false, "", false, true, null, new DefaultConsumer(channel));
                    accepted++;
                } catch (IOException e) {
                    assertThat(e).hasStackTraceContaining("in exclusive use");
                }
            }
            connection.createChannel().queueDelete(queue);
            return accepted;
        }
    }
}
