package dev.onlyonce.spring.listeners;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.testservers.QpidServer;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.springframework.amqp.core.Message;
import org.springframework.amqp.core.MessageBuilder;
import org.springframework.amqp.rabbit.annotation.EnableRabbit;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.RetryInterceptorBuilder;
import org.springframework.amqp.rabbit.config.SimpleRabbitListenerContainerFactory;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.amqp.rabbit.core.RabbitTemplate;
import org.springframework.amqp.rabbit.retry.RepublishMessageRecoverer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.Transactional;

@DisplayName("@Idempotent on @RabbitListener")
class RabbitListenersTest extends ListenersContract {
    private static final List<String> QUEUES = List.of("charge", "ship", "dead");

    private QpidServer server;
    private final List<String> dead = new ArrayList<>();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableRabbit
    static class Listeners {
        @Bean
        ConnectionFactory connections(@Value("${broker}") String broker) {
            CachingConnectionFactory connections = new CachingConnectionFactory();
            connections.setUri(broker);
            return connections;
        }

        @Bean
        RabbitTemplate template(ConnectionFactory connections) {
            return new RabbitTemplate(connections);
        }

        @Bean
        SimpleRabbitListenerContainerFactory rabbitListenerContainerFactory(
                ConnectionFactory connections, RabbitTemplate template) {
            SimpleRabbitListenerContainerFactory factory = new SimpleRabbitListenerContainerFactory();
            factory.setConnectionFactory(connections);
            factory.setAdviceChain(RetryInterceptorBuilder.stateless()
                    .maxRetries(5)
                    .backOffOptions(20, 1, 20)
                    .recoverer(new RepublishMessageRecoverer(template, "", "dead"))
                    .build());
            return factory;
        }

        @Bean
        Billing billing(Books books) {
            return new Billing(books);
        }
    }

    static class Billing {
        private final Books books;

        Billing(Books books) {
            this.books = books;
        }

        @RabbitListener(queues = "charge")
        @Idempotent
        @Transactional
        public void charge(String body) {
            books.charge(body);
        }

        @RabbitListener(queues = "ship")
        @Idempotent(operation = "ship")
        public void ship(String body) {
            books.ship(body);
        }
    }

    @Override
    Class<?> listeners() {
        return Listeners.class;
    }

    @Override
    Map<String, Object> properties() {
        server = QpidServer.start();
        String broker = "amqp://guest:guest@127.0.0.1:" + server.port();
        until("the broker serves", () -> declareQueues(broker));
        return Map.of("broker", broker);
    }

    /** It takes connections before its virtual host is active. */
    private static boolean declareQueues(String broker) {
        com.rabbitmq.client.ConnectionFactory factory = new com.rabbitmq.client.ConnectionFactory();
        try {
            factory.setUri(broker);
            try (Connection connection = factory.newConnection();
                    Channel channel = connection.createChannel()) {
                for (String queue : QUEUES) {
                    channel.queueDeclare(queue, true, false, false, null);
                }
                return true;
            }
        } catch (IOException e) {
            return false;
        } catch (GeneralSecurityException | URISyntaxException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
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
        MessageBuilder message = MessageBuilder.withBody(body.getBytes(StandardCharsets.UTF_8));
        message.setContentType("text/plain");
        if (id != null) {
            message.setMessageId(id);
        }
        context.getBean(RabbitTemplate.class).send("", topic, message.build());
    }

    @Override
    List<String> dead() {
        Message message = context.getBean(RabbitTemplate.class).receive("dead");
        while (message != null) {
            dead.add(new String(message.getBody(), StandardCharsets.UTF_8));
            message = context.getBean(RabbitTemplate.class).receive("dead");
        }
        return dead;
    }

    @AfterAll
    void stopServer() {
        if (server != null) {
            server.close();
        }
    }
}
