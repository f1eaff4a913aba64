package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.faults.TcpProxy;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.MessageIdentity;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("its counts depend on when a lost connection is noticed")
@DisplayName("An AMQP consumer that loses its connection")
class ConnectionsLostTest {
    private Broker broker;
    private Ledger ledger;
    private String queue;
    private TcpProxy network;

    /** The broker of these tests. */
    Broker broker() {
        return Broker.qpid();
    }

    @BeforeEach
    void open() throws Exception {
        broker = broker();
        ledger = new Ledger();
        queue = broker.queue();
        network = TcpProxy.open(
                0,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port()),
                (link, fromClient, begins) -> TcpProxy.Fate.PASS);
    }

    @AfterEach
    void close() {
        network.close();
        ledger.close();
    }

    private AmqpInbox.Builder<String> builder(int port) {
        return AmqpInbox.builder(ledger.once, Broker.factory(port), Ledger::text)
                .queue(queue)
                .id(MessageId.header("message-id"));
    }

    private void send(int from, int to) {
        for (int i = from; i < to; i++) {
            broker.send(queue, "key" + i % 7, "id" + i, "body" + i);
        }
        broker.flush();
    }

    @Test
    @DisplayName("N4 before its acknowledgement is sent recognises what is delivered again")
    void acknowledgementLost() {
        send(0, 50);
        AtomicBoolean cut = new AtomicBoolean();
        try (AmqpInbox inbox = builder(network.port()).transactional((c, body, message) -> {
            Ledger.write(c, body);
            if (cut.compareAndSet(false, true)) {
                network.cut();
            }
        })) {
            inbox.start();
            Broker.until(() -> inbox.counts().repeated() > 0);
            Broker.until(() -> inbox.counts().applied() == 50);
        }
        assertThat(ledger.effects()).hasSize(50).doesNotHaveDuplicates();
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("N4 in mid-batch does not apply what another consumer gets meanwhile")
    void twoAtOnce() throws Exception {
        send(0, 100);
        CountDownLatch inBatch = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger redelivered = new AtomicInteger();
        try (AmqpInbox slow = builder(network.port()).transactional((c, body, message) -> {
                    Ledger.write(c, body);
                    inBatch.countDown();
                    goOn.await();
                });
                AmqpInbox other = builder(broker.port())
                        .id(message -> {
                            Optional<MessageIdentity> id =
                                    MessageId.header("message-id").find(message);
                            id.ifPresent(found -> redelivered.incrementAndGet());
                            return id;
                        })
                        .transactional((c, body, message) -> Ledger.write(c, body))) {
            slow.start();
            inBatch.await();
            // The broker gives its messages to the other, which meets claims that are not committed.
            network.close();
            other.start();
            Broker.until(() -> redelivered.get() > 0);
            goOn.countDown();
            // Not by the counts: a consumer whose connection is gone does not count what it still applies.
            Broker.until(() -> ledger.effects().size() >= 100);
            broker.untilEmpty(queue);
        }
        assertThat(ledger.effects()).hasSize(100).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N4 because its queue was deleted goes on when the queue is back")
    void queueDeleted() {
        send(0, 10);
        try (AmqpInbox inbox = builder(broker.port()).transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 10);
            broker.delete(queue);
            broker.declare(queue);
            send(10, 20);
            Broker.until(() -> inbox.counts().applied() == 20);
        }
        assertThat(ledger.effects()).hasSize(20).doesNotHaveDuplicates();
    }

    private AmqpInbox.Builder<String> ordered(int port) {
        AmqpInbox.Builder<String> builder = builder(port).orderBy("routing-key").prefetch(20);
        return broker.isOrderedByConsumers() ? builder.exclusive() : builder;
    }

    @Test
    @DisplayName("N4 to a queue with one consumer at a time leaves it to the one that stands by, in order")
    void standBy() {
        queue = broker.orderedQueue();
        send(0, 200);
        AtomicBoolean cut = new AtomicBoolean();
        try (AmqpInbox first = ordered(network.port()).transactional((c, body, message) -> {
                    Ledger.write(c, body);
                    if (body.equals("body50") && cut.compareAndSet(false, true)) {
                        network.close();
                    }
                });
                AmqpInbox second = ordered(broker.port()).transactional((c, body, message) -> Ledger.write(c, body))) {
            first.start();
            Broker.until(() -> first.counts().applied() > 0);
            second.start();
            Broker.until(() -> first.counts().applied() + second.counts().applied() == 200);
            assertThat(second.counts().applied()).isPositive();
        }
        assertThat(ledger.effects().stream().map(body -> Integer.parseInt(body.substring("body".length()))))
                .isSorted()
                .hasSize(200)
                .doesNotHaveDuplicates();
    }
}
