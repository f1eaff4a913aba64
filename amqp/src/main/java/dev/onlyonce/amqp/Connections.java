package dev.onlyonce.amqp;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** Opens connections with the application's settings, without the client's own recovery. Any number of threads. */
final class Connections {
    /**
     * The largest message that RabbitMQ can be configured to accept. With a smaller limit the client closes the connection when it gets a
     * larger message, each time it is delivered: nobody could consume what is behind it.
     */
    private static final int INBOUND_BYTES_MAX = 512 << 20;
    /** The client's own limit is ten minutes. */
    private static final Duration ANSWER_MAX = Duration.ofSeconds(20);

    private final ConnectionFactory factory;
    private final List<Address> addresses;

    /** @param addresses the nodes of a cluster; empty for the factory's host and port */
    Connections(ConnectionFactory factory, List<Address> addresses) {
        this.factory = factory.clone();
        this.factory.setAutomaticRecoveryEnabled(false);
        this.factory.setTopologyRecoveryEnabled(false);
        this.factory.setChannelRpcTimeout((int) ANSWER_MAX.toMillis());
        this.factory.setMaxInboundMessageBodySize(INBOUND_BYTES_MAX);
        this.addresses = List.copyOf(addresses);
    }

    /** @param name what the broker's lists of connections show */
    Connection open(String name) throws IOException {
        try {
            return addresses.isEmpty() ? factory.newConnection(name) : factory.newConnection(addresses, name);
        } catch (TimeoutException e) {
            throw new IOException("the broker does not answer", e);
        }
    }

    /** Closes it, within a bound and without complaints. What was sent before is handled before. */
    static void close(Connection connection) {
        connection.abort((int) ANSWER_MAX.toMillis());
    }
}
