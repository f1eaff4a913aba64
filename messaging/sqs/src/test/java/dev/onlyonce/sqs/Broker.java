package dev.onlyonce.sqs;

import dev.onlyonce.testservers.ElasticMq;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageResponse;

/** A server with a client for tests: makes queues, sends, and reads. */
final class Broker implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final class Shared {
        private static final Broker BROKER = new Broker(ElasticMq.start());
    }

    final ElasticMq server;
    final SqsAsyncClient client;

    Broker(ElasticMq server) {
        this.server = server;
        this.client = client(server.endpoint());
    }

    /** The one server of this JVM; nobody kills it. */
    static Broker shared() {
        return Shared.BROKER;
    }

    /** A client, to be closed by the caller. */
    static SqsAsyncClient client(String endpoint, ExecutionInterceptor... interceptors) {
        return SqsAsyncClient.builder()
                .endpointOverride(URI.create(endpoint))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "x")))
                .overrideConfiguration(o -> List.of(interceptors).forEach(o::addExecutionInterceptor))
                .build();
    }

    /** A standard queue, and its dead-letter queue; returns its name. */
    String queue() {
        String name = "q" + UUID.randomUUID();
        create(name, false);
        create(name + "-dead", false);
        return name;
    }

    /** A FIFO queue, and its dead-letter queue; returns its name. */
    String fifo() {
        String name = "q" + UUID.randomUUID();
        create(name + ".fifo", true);
        create(name + "-dead.fifo", true);
        return name + ".fifo";
    }

    void create(String name, boolean fifo) {
        Map<QueueAttributeName, String> attributes = fifo ? Map.of(QueueAttributeName.FIFO_QUEUE, "true") : Map.of();
        client.createQueue(request -> request.queueName(name).attributes(attributes))
                .join();
    }

    String url(String queue) {
        return client.getQueueUrl(request -> request.queueName(queue)).join().queueUrl();
    }

    static Map<String, MessageAttributeValue> id(String id) {
        return Map.of("message-id", Attributes.text(id));
    }

    /** Sends to a standard queue. */
    void send(String queue, String id, String body) {
        send(queue, null, id == null ? Map.of() : id(id), body).join();
    }

    /** Sends to a FIFO queue, which does not recognise it: each has a deduplication id of its own. */
    void send(String queue, String group, String id, String body) {
        send(queue, group, id(id), body).join();
    }

    CompletableFuture<SendMessageResponse> send(
            String queue, String group, Map<String, MessageAttributeValue> attributes, String body) {
        String url = server.endpoint() + "/000000000000/" + queue;
        return client.sendMessage(request -> {
            request.queueUrl(url).messageBody(body).messageAttributes(attributes);
            if (group != null) {
                request.messageGroupId(group)
                        .messageDeduplicationId(UUID.randomUUID().toString());
            }
        });
    }

    /** Takes this many messages out of a queue. */
    List<Message> take(String queue, int messages) {
        List<Message> found = new ArrayList<>();
        until(() -> {
            found.addAll(takeSome(queue));
            return found.size() >= messages;
        });
        return found;
    }

    /** Takes what is in a queue, at most ten; waits for a while if it is empty. */
    List<Message> takeSome(String queue) {
        String url = url(queue);
        List<Message> some = client.receiveMessage(request -> request.queueUrl(url)
                        .maxNumberOfMessages(10)
                        .waitTimeSeconds(1)
                        .messageAttributeNames("All")
                        .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
                .join()
                .messages();
        for (Message message : some) {
            client.deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle()))
                    .join();
        }
        return some;
    }

    /** How many messages a queue has, those in flight included. */
    int size(String queue) {
        String url = url(queue);
        Map<QueueAttributeName, String> counts = client.getQueueAttributes(request -> request.queueUrl(url)
                        .attributeNames(
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
                                QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE))
                .join()
                .attributes();
        return counts.values().stream().mapToInt(Integer::parseInt).sum();
    }

    static String attribute(Message message, String name) {
        MessageAttributeValue value = message.messageAttributes().get(name);
        return value == null ? null : value.stringValue();
    }

    static void until(BooleanSupplier condition) {
        long begun = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begun > PATIENCE.toNanos()) {
                throw new AssertionError("not within " + PATIENCE);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
