package dev.onlyonce.spring.listeners;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Event.Consumed.End;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.testservers.ElasticMq;
import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.awspring.cloud.sqs.annotation.SqsListener;
import io.awspring.cloud.sqs.config.SqsBootstrapConfiguration;
import io.awspring.cloud.sqs.config.SqsListenerConfigurer;
import io.awspring.cloud.sqs.config.SqsMessageListenerContainerFactory;
import io.awspring.cloud.sqs.listener.errorhandler.ImmediateRetryAsyncErrorHandler;
import java.lang.reflect.Method;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.messaging.handler.annotation.support.DefaultMessageHandlerMethodFactory;
import org.springframework.messaging.handler.invocation.InvocableHandlerMethod;
import org.springframework.transaction.annotation.Transactional;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

@DisplayName("@Idempotent on @SqsListener")
class SqsListenersTest extends ListenersContract {
    private static final String PARCELS = "parcels.fifo";
    private static final String TRIES = "6";
    /** A failed message comes again at once. Longer than a busy machine takes for ten messages. */
    private static final String HIDDEN_SECONDS = "60";

    private ElasticMq server;
    private SqsAsyncClient client;
    private final List<String> dead = new ArrayList<>();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(SqsBootstrapConfiguration.class)
    static class Listeners {
        final List<String> created = new CopyOnWriteArrayList<>();

        @Bean
        SqsAsyncClient client(@Value("${endpoint}") String endpoint) {
            return SqsListenersTest.client(endpoint);
        }

        @Bean
        SqsMessageListenerContainerFactory<Object> defaultSqsListenerContainerFactory(SqsAsyncClient client) {
            return SqsMessageListenerContainerFactory.builder()
                    .sqsAsyncClient(client)
                    .errorHandler(new ImmediateRetryAsyncErrorHandler<>())
                    .build();
        }

        @Bean
        SqsListenerConfigurer factoryOfTheApplication() {
            return registrar -> registrar.setMessageHandlerMethodFactory(new DefaultMessageHandlerMethodFactory() {
                @Override
                public InvocableHandlerMethod createInvocableHandlerMethod(Object bean, Method method) {
                    created.add(method.getName());
                    return super.createInvocableHandlerMethod(bean, method);
                }
            });
        }

        @Bean
        Billing billing(Books books) {
            return new Billing(books);
        }

        @Bean
        Parcels parcels(Books books) {
            return new Parcels(books);
        }
    }

    static class Billing {
        private final Books books;

        Billing(Books books) {
            this.books = books;
        }

        @SqsListener("charge")
        @Idempotent
        @Transactional
        public void charge(String body) {
            books.charge(body);
        }

        @SqsListener("ship")
        @Idempotent(operation = "ship")
        public void ship(String body) {
            books.ship(body);
        }
    }

    @SqsListener(PARCELS)
    static class Parcels {
        private final Books books;

        Parcels(Books books) {
            this.books = books;
        }

        @SqsHandler
        @Idempotent(operation = "send parcel")
        public void send(String body) {
            books.ship(body);
        }
    }

    private static SqsAsyncClient client(String endpoint) {
        return SqsAsyncClient.builder()
                .endpointOverride(URI.create(endpoint))
                .region(Region.EU_CENTRAL_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "x")))
                .build();
    }

    @Override
    Class<?> listeners() {
        return Listeners.class;
    }

    @Override
    Map<String, Object> properties() {
        server = ElasticMq.start();
        client = client(server.endpoint());
        create("dead", Map.of());
        String target = client.getQueueAttributes(
                        request -> request.queueUrl(url("dead")).attributeNames(QueueAttributeName.QUEUE_ARN))
                .join()
                .attributes()
                .get(QueueAttributeName.QUEUE_ARN);
        String redrive = "{\"deadLetterTargetArn\":\"" + target + "\",\"maxReceiveCount\":\"" + TRIES + "\"}";
        for (String queue : List.of("charge", "ship")) {
            create(
                    queue,
                    Map.of(
                            QueueAttributeName.VISIBILITY_TIMEOUT,
                            HIDDEN_SECONDS,
                            QueueAttributeName.REDRIVE_POLICY,
                            redrive));
        }
        create(
                PARCELS,
                Map.of(QueueAttributeName.FIFO_QUEUE, "true", QueueAttributeName.VISIBILITY_TIMEOUT, HIDDEN_SECONDS));
        return Map.of(
                "endpoint",
                server.endpoint(),
                "onlyonce.messages.id",
                "cloud-event,header:message-id,header:MessageDeduplicationId");
    }

    private void create(String queue, Map<QueueAttributeName, String> attributes) {
        client.createQueue(request -> request.queueName(queue).attributes(attributes))
                .join();
    }

    private String url(String queue) {
        return server.endpoint() + "/000000000000/" + queue;
    }

    @Override
    String name(String topic) {
        return topic;
    }

    @Override
    String group(String topic) {
        return topic;
    }

    @Override
    void send(String topic, String id, String body) {
        Map<String, MessageAttributeValue> attributes = id == null
                ? Map.of()
                : Map.of(
                        "message-id",
                        MessageAttributeValue.builder()
                                .dataType("String")
                                .stringValue(id)
                                .build());
        client.sendMessage(request -> {
                    request.queueUrl(url(topic)).messageBody(body).messageAttributes(attributes);
                    if (topic.equals(PARCELS)) {
                        request.messageGroupId("one")
                                .messageDeduplicationId(UUID.randomUUID().toString());
                    }
                })
                .join();
    }

    @Override
    List<String> dead() {
        List<Message> some = client.receiveMessage(
                        request -> request.queueUrl(url("dead")).maxNumberOfMessages(10))
                .join()
                .messages();
        for (Message message : some) {
            dead.add(message.body());
            client.deleteMessage(request -> request.queueUrl(url("dead")).receiptHandle(message.receiptHandle()))
                    .join();
        }
        return dead;
    }

    @AfterAll
    @Override
    void stop() throws Exception {
        super.stop();
        if (client != null) {
            client.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    @DisplayName("N4 a handler of a FIFO queue applies each message once, also by its deduplication id")
    void handlers() {
        send(PARCELS, "parcel-id", "parcel");
        send(PARCELS, "parcel-id", "parcel");
        send(PARCELS, null, "letter");
        until("the last came", () -> books.calls("letter").size() == 1);
        assertThat(books.calls("parcel")).hasSize(1);
        assertThat(books.count(End.REPEATED, PARCELS)).isPositive();
    }

    @Test
    @DisplayName("leaves the application's own factory of methods in its place")
    void factory() {
        assertThat(context.getBean(Listeners.class).created).contains("charge", "ship", "send");
    }
}
