package dev.onlyonce.amqp;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.impl.LongStringHelper;
import dev.onlyonce.testservers.QpidServer;
import dev.onlyonce.testservers.RabbitMqServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A broker with a client for tests: makes queues, sends, and reads. */
final class Broker implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private static final class Qpid {
        private static final Broker SHARED = Broker.startQpid();
    }

    private static final class RabbitMq {
        private static final Broker SHARED = Broker.startRabbitMq();
    }

    /** What a test may do to a broker. */
    private record Server(int port, Runnable kill, Runnable restart, Runnable close) {}

    private final Server server;
    private final Map<String, Object> queueArguments;
    private Connection connection;
    /** One for each thread: test classes run at the same time. */
    private final Map<Thread, Channel> channels = new ConcurrentHashMap<>();

    private Broker(Server server, Map<String, Object> queueArguments) {
        this.server = server;
        this.queueArguments = queueArguments;
        connect();
    }

    static Broker startQpid() {
        QpidServer qpid = QpidServer.start();
        return new Broker(new Server(qpid.port(), qpid::kill, qpid::restart, qpid::close), Map.of());
    }

    /** With quorum queues. */
    static Broker startRabbitMq() {
        RabbitMqServer rabbit = RabbitMqServer.start();
        return new Broker(
                new Server(rabbit.port(), rabbit::kill, rabbit::restart, rabbit::close),
                Map.of("x-queue-type", "quorum"));
    }

    /** The one Qpid of this JVM; nobody kills it. */
    static Broker qpid() {
        return Qpid.SHARED;
    }

    /** The one RabbitMQ of this JVM; nobody kills it. */
    static Broker rabbitMq() {
        return RabbitMq.SHARED;
    }

    private void connect() {
        try {
            connection = factory().newConnection("test");
            channels.clear();
        } catch (IOException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    private Channel open() {
        try {
            Channel channel = connection.createChannel();
            channel.confirmSelect();
            return channel;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    int port() {
        return server.port;
    }

    ConnectionFactory factory() {
        return factory(server.port);
    }

    static ConnectionFactory factory(int port) {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost("127.0.0.1");
        factory.setPort(port);
        factory.setAutomaticRecoveryEnabled(false);
        return factory;
    }

    void kill() {
        server.kill.run();
    }

    void restart() {
        server.restart.run();
        connect();
    }

    /** A queue, and one for its dead letters. */
    String queue() {
        String queue = "q" + UUID.randomUUID();
        declare(queue);
        declare(queue + ".dead");
        return queue;
    }

    /** A queue that one consumer has at a time. */
    String orderedQueue() {
        String queue = "o" + UUID.randomUUID();
        Map<String, Object> arguments = new HashMap<>(queueArguments);
        if (!isOrderedByConsumers()) {
            arguments.put("x-single-active-consumer", true);
        }
        declare(queue, arguments);
        declare(queue + ".dead");
        return queue;
    }

    /** Whether a queue has one consumer because its consumers want to be alone; else because the queue wants it. */
    boolean isOrderedByConsumers() {
        return queueArguments.isEmpty();
    }

    void declare(String queue) {
        declare(queue, queueArguments);
    }

    private void declare(String queue, Map<String, Object> arguments) {
        try {
            channel().queueDeclare(queue, true, false, false, arguments);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    void delete(String queue) {
        try {
            channel().queueDelete(queue);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    Channel channel() {
        return channels.computeIfAbsent(Thread.currentThread(), thread -> open());
    }

    /** Sends a persistent message with a key in a header. */
    void send(String queue, String key, String id, String body) {
        send(queue, key, new AMQP.BasicProperties.Builder().messageId(id), body.getBytes(StandardCharsets.UTF_8));
    }

    /** Sends one whose id is a header, with any bytes in it. */
    void send(String queue, byte[] id, byte[] body) {
        Map<String, Object> headers = new HashMap<>();
        headers.put("id", LongStringHelper.asLongString(id));
        publish(queue, new AMQP.BasicProperties.Builder().deliveryMode(2).headers(headers), body);
    }

    private void send(String queue, String key, AMQP.BasicProperties.Builder properties, byte[] body) {
        publish(queue, properties.deliveryMode(2).headers(Map.of("key", key)), body);
    }

    void publish(String queue, AMQP.BasicProperties.Builder properties, byte[] body) {
        try {
            channel().basicPublish("", queue, properties.build(), body);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until all that was sent is there. */
    void flush() {
        try {
            channel().waitForConfirmsOrDie(PATIENCE.toMillis());
        } catch (IOException | InterruptedException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until all messages of a queue are acknowledged. */
    void untilEmpty(String queue) {
        until(() -> {
            try {
                return channel().messageCount(queue) == 0;
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** Takes this many messages from a queue. */
    List<GetResponse> read(String queue, int messages) {
        List<GetResponse> found = new ArrayList<>();
        until(() -> {
            found.addAll(readAll(queue));
            return found.size() >= messages;
        });
        return found;
    }

    /** Takes all messages that are there. */
    List<GetResponse> readAll(String queue) {
        List<GetResponse> found = new ArrayList<>();
        try {
            for (GetResponse next = channel().basicGet(queue, true);
                    next != null;
                    next = channel().basicGet(queue, true)) {
                found.add(next);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return found;
    }

    static String header(GetResponse message, String name) {
        Object value = message.getProps().getHeaders() == null
                ? null
                : message.getProps().getHeaders().get(name);
        return value == null ? null : value.toString();
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
        connection.abort(1_000);
        server.close.run();
    }
}
