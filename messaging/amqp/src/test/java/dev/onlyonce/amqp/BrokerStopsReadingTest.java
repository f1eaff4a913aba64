package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.SocketConfigurator;
import dev.onlyonce.Key;
import dev.onlyonce.faults.TcpProxy;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** As RabbitMQ does to publishers while its memory or disk runs low. */
@DisplayName("A broker that stops reading")
class BrokerStopsReadingTest {
    /** More than the buffers of the sockets. */
    private static final int LARGE_BYTES = 8 << 20;

    private static final Duration BOUND = Duration.ofMinutes(2);

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch stuck = new CountDownLatch(1);
    private final CountDownLatch readsAgain = new CountDownLatch(1);
    private final AtomicInteger attempts = new AtomicInteger();
    private volatile boolean reads = true;
    private Broker broker;
    private String queue;
    private TcpProxy network;

    @BeforeEach
    void open() {
        broker = Broker.qpid();
        queue = broker.queue();
        network = TcpProxy.open(
                0, new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port()), new TcpProxy.Rule() {
                    @Override
                    public boolean accepts() {
                        attempts.incrementAndGet();
                        return true;
                    }

                    @Override
                    public TcpProxy.Fate decide(TcpProxy.Link link, boolean fromClient, boolean begins) {
                        return fromClient ? read() : TcpProxy.Fate.PASS;
                    }
                });
    }

    private TcpProxy.Fate read() {
        try {
            if (!reads) {
                stuck.countDown();
                readsAgain.await();
            }
            return TcpProxy.Fate.PASS;
        } catch (InterruptedException e) {
            return TcpProxy.Fate.RESET;
        }
    }

    private void readAgain() {
        reads = true;
        readsAgain.countDown();
    }

    @AfterEach
    void close() {
        readAgain();
        network.close();
        threads.shutdownNow();
    }

    private AmqpRelay relay() {
        return new AmqpRelay(Broker.factory(network.port()), "/orders");
    }

    private Future<Delivery> deliver(AmqpRelay relay, int bytes) {
        OutgoingMessage message = OutgoingMessage.json(queue, null, "order.paid", new byte[bytes]);
        OutboxRow row = new OutboxRow(
                1,
                Key.of("shop", "publish", "order-1"),
                AmqpRelay.TOPIC,
                message.call(AmqpRelay.TOPIC).payload(),
                1,
                Instant.EPOCH,
                null,
                null,
                false,
                null);
        return threads.submit(() -> relay.deliver(row));
    }

    @Test
    @DisplayName("N5 leaves a message in doubt within a bound, and gets the next one when it reads again")
    void doubt() {
        AtomicInteger configured = new AtomicInteger();
        ConnectionFactory factory = Broker.factory(network.port());
        SocketConfigurator usual = factory.getSocketConfigurator();
        factory.setSocketConfigurator(usual.andThen(socket -> configured.incrementAndGet()));
        try (AmqpRelay forLarge = new AmqpRelay(factory, "/orders");
                AmqpRelay forSmall = relay()) {
            assertThat(deliver(forLarge, 1)).succeedsWithin(BOUND).isInstanceOf(Delivery.Delivered.class);
            assertThat(deliver(forSmall, 1)).succeedsWithin(BOUND).isInstanceOf(Delivery.Delivered.class);
            reads = false;
            // One cannot be written; the other is, but neither its confirm nor the end of its channel comes.
            Future<Delivery> large = deliver(forLarge, LARGE_BYTES);
            Future<Delivery> small = deliver(forSmall, 1);
            assertThat(large).succeedsWithin(BOUND).isInstanceOf(Delivery.Ambiguous.class);
            assertThat(small).succeedsWithin(BOUND).isInstanceOf(Delivery.Ambiguous.class);
            readAgain();
            assertThat(deliver(forLarge, 1)).succeedsWithin(BOUND).isInstanceOf(Delivery.Delivered.class);
            assertThat(deliver(forSmall, 1)).succeedsWithin(BOUND).isInstanceOf(Delivery.Delivered.class);
            assertThat(configured)
                    .as("the application's own settings of sockets")
                    .hasValue(2);
        }
    }

    @Test
    @DisplayName("N5 does not keep a relay from closing while it publishes")
    void closesRelay() throws Exception {
        AmqpRelay relay = relay();
        assertThat(deliver(relay, 1)).succeedsWithin(BOUND).isInstanceOf(Delivery.Delivered.class);
        reads = false;
        Future<Delivery> large = deliver(relay, LARGE_BYTES);
        stuck.await();
        assertThat(threads.submit(relay::close)).succeedsWithin(BOUND);
        assertThat(large).succeedsWithin(BOUND).isInstanceOf(Delivery.Ambiguous.class);
        assertThat(deliver(relay, 1)).succeedsWithin(BOUND).isInstanceOf(Delivery.Ambiguous.class);
    }

    @Test
    @DisplayName("N5 does not keep a connection from closing while something is written that nobody else would end")
    void closesConnection() throws Exception {
        BrokerConnection connection = new Connections(Broker.factory(network.port()), List.of()).open("test");
        Channel channel = connection.borrow();
        reads = false;
        Future<?> write = threads.submit(() -> {
            channel.basicPublish("", queue, null, new byte[LARGE_BYTES]);
            return null;
        });
        stuck.await();
        assertThat(threads.submit(connection::close)).succeedsWithin(BOUND);
        assertThat(write).failsWithin(BOUND);
        assertThat(connection.isOpen()).isFalse();
    }

    @Test
    @DisplayName("N5 lets all workers that want to connect fail at once, not one after the other")
    void connecting() throws Exception {
        reads = false;
        try (AmqpRelay relay = relay()) {
            List<Future<Delivery>> workers = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                workers.add(deliver(relay, 1));
            }
            Future<List<Delivery>> all = threads.submit(() -> {
                List<Delivery> done = new ArrayList<>();
                for (Future<Delivery> worker : workers) {
                    done.add(worker.get());
                }
                return done;
            });
            assertThat(all).succeedsWithin(BOUND);
            assertThat(all.get()).hasOnlyElementsOfType(Delivery.Ambiguous.class);
            // An attempt takes seconds. Those who come during it share it.
            assertThat(attempts).hasValueLessThan(10);
        }
    }

    @Test
    @DisplayName("N5 does not keep a relay from closing while it connects")
    void closesWhileConnecting() throws Exception {
        reads = false;
        AmqpRelay relay = relay();
        Future<Delivery> worker = deliver(relay, 1);
        stuck.await();
        assertThat(threads.submit(relay::close)).succeedsWithin(BOUND);
        // The connection succeeds, and is closed.
        readAgain();
        assertThat(worker).succeedsWithin(BOUND).isInstanceOf(Delivery.Ambiguous.class);
        Broker.until(() -> network.connections() == 0);
    }
}
