package dev.onlyonce.amqp;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Opens connections with the application's settings, without the client's own recovery. Any number of threads. */
final class Connections {
    /**
     * The largest message that RabbitMQ can be configured to accept. With a smaller limit the client closes the connection when it gets a
     * larger message, each time it is delivered: nobody could consume what is behind it.
     */
    private static final int INBOUND_BYTES_MAX = 512 << 20;
    /** The client's own limit is ten minutes. */
    private static final Duration ANSWER_MAX = Duration.ofSeconds(20);
    /** The client's own limit is a minute for each address. */
    private static final int CONNECT_MILLIS_MAX = 10_000;

    private final ConnectionFactory factory;
    private final List<Address> addresses;

    /** @param addresses the nodes of a cluster; empty for the factory's host and port */
    Connections(ConnectionFactory factory, List<Address> addresses) {
        this.factory = factory.clone();
        this.factory.setAutomaticRecoveryEnabled(false);
        this.factory.setTopologyRecoveryEnabled(false);
        this.factory.setChannelRpcTimeout((int) ANSWER_MAX.toMillis());
        this.factory.setMaxInboundMessageBodySize(INBOUND_BYTES_MAX);
        int connectMillis = factory.getConnectionTimeout();
        if (connectMillis == 0 || connectMillis > CONNECT_MILLIS_MAX) {
            this.factory.setConnectionTimeout(CONNECT_MILLIS_MAX);
        }
        this.addresses = List.copyOf(addresses);
    }

    /** @param name what the broker's lists of connections show */
    BrokerConnection open(String name) throws IOException {
        // The client tries one address after the other; the last socket is the one that connected.
        AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
        ConnectionFactory capturing = factory.clone();
        capturing.setSocketConfigurator(factory.getSocketConfigurator().andThen(socket::set));
        try {
            Connection connection =
                    addresses.isEmpty() ? capturing.newConnection(name) : capturing.newConnection(addresses, name);
            return new BrokerConnection(connection, socket.get());
        } catch (TimeoutException e) {
            throw new IOException("the broker does not answer", e);
        }
    }
}
