package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.GetResponse;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.testservers.RabbitMqServer;
import java.nio.charset.StandardCharsets;
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
}
