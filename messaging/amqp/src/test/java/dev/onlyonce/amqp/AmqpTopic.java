package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.impl.LongStringHelper;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.testkit.messages.ConsumedTopic;
import dev.onlyonce.testkit.messages.ConsumerSetup;
import dev.onlyonce.testkit.messages.DeadMessage;
import dev.onlyonce.testkit.messages.RunningConsumer;
import dev.onlyonce.testkit.messages.SentMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A queue for the contract of consumers. The id is a header, because a property cannot hold all that the contract sends. */
final class AmqpTopic implements ConsumedTopic {
    private final Broker broker;
    private final String queue;
    private final List<DeadMessage> dead = new ArrayList<>();

    AmqpTopic(Broker broker) {
        this.broker = broker;
        this.queue = broker.queue();
    }

    @Override
    public void send(List<SentMessage> messages) {
        for (SentMessage message : messages) {
            Map<String, Object> headers = new HashMap<>();
            headers.put("key", message.key());
            byte[] id = message.id();
            if (id != null) {
                headers.put("message-id", LongStringHelper.asLongString(id));
            }
            broker.publish(
                    queue, new AMQP.BasicProperties.Builder().deliveryMode(2).headers(headers), message.body());
        }
        broker.flush();
    }

    @Override
    public RunningConsumer start(ConsumerSetup setup) {
        AmqpInbox.Builder<String> builder = AmqpInbox.builder(
                        setup.once(), broker.factory(), message -> ConsumerSetup.decode(message.body()))
                .queue(queue)
                .id(MessageId.header("message-id"))
                .orderBy("key")
                .bodyBytesMax(ConsumerSetup.BODY_BYTES_MAX)
                .handlerMax(setup.handlerMax())
                .retries(new RetryLimits(
                        setup.triesMax(),
                        ConsumerSetup.PAUSE_FIRST,
                        ConsumerSetup.PAUSE_LONGEST,
                        ConsumerSetup.BLOCK_MAX));
        AmqpInbox inbox = setup.leased()
                ? builder.leased(
                        ConsumerSetup.OPERATION,
                        (claim, body, message) -> setup.effect().apply(null, body))
                : builder.transactional(
                        (transaction, body, message) -> setup.effect().apply(transaction, body));
        inbox.start();
        return new Running(inbox);
    }

    private record Running(AmqpInbox inbox) implements RunningConsumer {
        @Override
        public long applied() {
            return inbox.counts().applied();
        }

        @Override
        public long repeated() {
            return inbox.counts().repeated();
        }

        @Override
        public long retried() {
            return inbox.counts().retried();
        }

        @Override
        public long dead() {
            return inbox.counts().dead();
        }

        @Override
        public void close() {
            inbox.close();
        }
    }

    @Override
    public List<DeadMessage> dead() {
        broker.readAll(queue + ".dead").forEach(message -> {
            Map<String, String> headers = new HashMap<>();
            message.getProps().getHeaders().forEach((name, value) -> headers.put(name, value.toString()));
            dead.add(new DeadMessage(headers, message.getBody()));
        });
        return List.copyOf(dead);
    }

    @Override
    public RuntimeException poison(String why) {
        return new PoisonMessage(why);
    }

    @Override
    public void close() {
        broker.delete(queue);
        broker.delete(queue + ".dead");
    }
}
