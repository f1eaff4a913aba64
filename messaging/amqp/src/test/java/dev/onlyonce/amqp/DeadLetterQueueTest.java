package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.Envelope;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.faults.TcpProxy;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.messages.adapter.InboxBuilder;
import dev.onlyonce.messages.adapter.MessageDispatcher;
import dev.onlyonce.messages.adapter.PendingMessage;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A queue of dead letters")
class DeadLetterQueueTest {
    private static final int LARGE_BYTES = 4 << 20;
    /** More than small messages need, and fewer than a large one: a proxy passes on at most 64 KiB at once. */
    private static final int PIECES_MAX = 40;

    private static final RetryLimits AT_ONCE = new RetryLimits(3, Duration.ZERO, Duration.ZERO, Duration.ofHours(1));

    /** Resets a connection in a large request. */
    private static final class NothingLarge implements TcpProxy.Rule {
        private final Map<TcpProxy.Link, Integer> pieces = new ConcurrentHashMap<>();

        @Override
        public TcpProxy.Fate decide(TcpProxy.Link link, boolean fromClient, boolean begins) {
            if (!fromClient) {
                return TcpProxy.Fate.PASS;
            }
            int sent = begins ? 1 : pieces.getOrDefault(link, 0) + 1;
            pieces.put(link, sent);
            return sent > PIECES_MAX ? TcpProxy.Fate.RESET : TcpProxy.Fate.PASS;
        }
    }

    /** Builds a desk whose messages have no ids, and so become dead letters. */
    private static final class Builder extends InboxBuilder<String, Builder, MessageDispatcher<Delivery>> {
        private final DeadLetterQueue dead;

        Builder(Onlyonce once, DeadLetterQueue dead) {
            super(once, Ledger::text);
            this.dead = dead;
        }

        @Override
        protected Builder self() {
            return this;
        }

        @Override
        protected String group() {
            return "group";
        }

        @Override
        protected MessageDispatcher<Delivery> build(MessageDispatcher.Rules rules) {
            return new MessageDispatcher<>(rules, dead);
        }
    }

    private static PendingMessage<Delivery> pending(MessageDispatcher<Delivery> dispatcher, int tag, int bytes) {
        Delivery delivery = new Delivery(
                new Envelope(tag, false, "", "orders"), new AMQP.BasicProperties.Builder().build(), new byte[bytes]);
        return dispatcher.receive(Deliveries.message("orders", String.valueOf(tag), delivery), null, delivery);
    }

    @Test
    @DisplayName("N4 gets the others although it never confirms the first")
    void others() {
        Broker broker = Broker.qpid();
        String queue = broker.queue();
        InetSocketAddress target = new InetSocketAddress(InetAddress.getLoopbackAddress(), broker.port());
        try (TcpProxy network = TcpProxy.open(0, target, new NothingLarge());
                Time time = Time.system();
                Onlyonce once =
                        Onlyonce.builder(new MemoryStore(time)).time(time).build()) {
            Publisher publisher = new Publisher(new Connections(Broker.factory(network.port()), List.of()), "test");
            DeadLetterQueue dead = new DeadLetterQueue(publisher, Destination.queue(queue), "group");
            try (MessageDispatcher<Delivery> dispatcher =
                    new Builder(once, dead).retries(AT_ONCE).leased("ship", (claim, text, message) -> {})) {
                PendingMessage<Delivery> large = pending(dispatcher, 1, LARGE_BYTES);
                PendingMessage<Delivery> second = pending(dispatcher, 2, 1);
                PendingMessage<Delivery> third = pending(dispatcher, 3, 1);
                // The large one ends the first round: the others would wait for the same broker.
                assertThat(dispatcher.work(List.of(large, second, third))).isEmpty();
                // The client may take a moment to notice that its connection is gone.
                List<PendingMessage<Delivery>> open = new ArrayList<>(List.of(large, second, third));
                Broker.until(() -> {
                    open.removeAll(dispatcher.work(open));
                    return open.size() <= 1;
                });
                assertThat(open).containsExactly(large);
                assertThat(dispatcher.work(List.of(large))).isEmpty();
            }
        }
        assertThat(broker.readAll(queue)).hasSize(2);
    }
}
