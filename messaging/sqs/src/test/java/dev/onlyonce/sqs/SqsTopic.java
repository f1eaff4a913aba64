package dev.onlyonce.sqs;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.testkit.messages.BadInput;
import dev.onlyonce.testkit.messages.ConsumedTopic;
import dev.onlyonce.testkit.messages.ConsumerSetup;
import dev.onlyonce.testkit.messages.DeadMessage;
import dev.onlyonce.testkit.messages.RunningConsumer;
import dev.onlyonce.testkit.messages.SentMessage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** A queue for the contract of consumers. */
final class SqsTopic implements ConsumedTopic {
    private final Broker broker;
    private final String queue;
    private final boolean fifo;
    private final List<DeadMessage> dead = new ArrayList<>();

    SqsTopic(Broker broker, boolean fifo) {
        this.broker = broker;
        this.fifo = fifo;
        this.queue = fifo ? broker.fifo() : broker.queue();
    }

    /** In a FIFO queue one after the other; a standard queue does not care. */
    @Override
    public void send(List<SentMessage> messages) {
        List<CompletableFuture<?>> sent = new ArrayList<>();
        for (SentMessage message : messages) {
            String group = fifo ? message.key() : null;
            String body = new String(message.body(), StandardCharsets.UTF_8);
            CompletableFuture<?> one = broker.send(queue, group, attributes(message), body);
            if (fifo) {
                one.join();
            }
            sent.add(one);
        }
        sent.forEach(CompletableFuture::join);
    }

    private static Map<String, MessageAttributeValue> attributes(SentMessage message) {
        byte[] id = message.id();
        if (id == null) {
            return Map.of();
        }
        String text = new String(id, StandardCharsets.UTF_8);
        // What is no text for SQS can still be sent as a binary value.
        boolean plain = id.length == 0
                || (Attributes.isText(text) && SdkBytes.fromUtf8String(text).equals(SdkBytes.fromByteArray(id)));
        MessageAttributeValue.Builder value = MessageAttributeValue.builder();
        return Map.of(
                "message-id",
                plain
                        ? value.dataType("String").stringValue(text).build()
                        : value.dataType("Binary")
                                .binaryValue(SdkBytes.fromByteArray(id))
                                .build());
    }

    @Override
    public RunningConsumer start(ConsumerSetup setup) {
        SqsInbox.Builder<String> builder = SqsInbox.builder(
                        setup.once(), broker.client, message -> ConsumerSetup.decode(message.body()))
                .queue(queue)
                .longPoll(Duration.ofSeconds(1))
                .id(MessageId.header("message-id"))
                .bodyBytesMax(ConsumerSetup.BODY_BYTES_MAX)
                .handlerMax(setup.handlerMax())
                .retries(new RetryLimits(
                        setup.triesMax(),
                        ConsumerSetup.PAUSE_FIRST,
                        ConsumerSetup.PAUSE_LONGEST,
                        ConsumerSetup.BLOCK_MAX));
        SqsInbox inbox = setup.leased()
                ? builder.leased(
                        ConsumerSetup.OPERATION,
                        (claim, body, message) -> setup.effect().apply(null, body))
                : builder.transactional(
                        (transaction, body, message) -> setup.effect().apply(transaction, body));
        inbox.start();
        return new Running(inbox);
    }

    private record Running(SqsInbox inbox) implements RunningConsumer {
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
        for (Message message : broker.takeSome(Queue.withSuffix(queue, "-dead"))) {
            Map<String, String> headers = new HashMap<>();
            message.messageAttributes()
                    .forEach((name, value) ->
                            headers.put(name, new String(Attributes.bytes(value), StandardCharsets.UTF_8)));
            dead.add(new DeadMessage(headers, message.body().getBytes(StandardCharsets.UTF_8)));
        }
        return List.copyOf(dead);
    }

    @Override
    public RuntimeException poison(String why) {
        return new PoisonMessage(why);
    }

    @Override
    public boolean isOrdered() {
        return fifo;
    }

    /** SQS has no empty values. */
    @Override
    public Set<BadInput> unsendable() {
        return Set.of(BadInput.EMPTY_ID);
    }

    @Override
    public int bodyBytesMax() {
        return 1 << 20;
    }

    @Override
    public void close() {}
}
