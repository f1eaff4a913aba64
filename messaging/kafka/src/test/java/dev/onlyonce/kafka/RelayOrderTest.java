package dev.onlyonce.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.OutgoingMessage;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

@Order(1)
@DisplayName("Relays on two nodes")
class RelayOrderTest {
    private static final int MESSAGES = 500;
    private static final int KEYS = 10;
    private static final int KILLS = Boolean.getBoolean("onlyonce.thorough") ? 3 : 1;
    private static final Fingerprint FINGERPRINT = Fingerprint.of(new byte[] {1});

    private final Broker broker = Broker.shared();

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Refuses every third message at first, and forgets that it has sent every seventh. */
    private record Failing(KafkaRelay relay, Set<String> failed) implements DeliveryHandler {
        @Override
        public Delivery deliver(OutboxRow row) throws Exception {
            int number = Integer.parseInt(row.key().value());
            if (number % 3 == 0 && failed.add("before " + number)) {
                return new Delivery.NotExecuted("not sent");
            }
            Delivery sent = relay.deliver(row);
            return number % 7 == 0 && failed.add("after " + number) ? new Delivery.Ambiguous("no answer") : sent;
        }

        @Override
        public Duration keyLifetime() {
            return relay.keyLifetime();
        }
    }

    @Test
    @DisplayName("N5 publish the messages of each key in the order in which they were accepted, through all failures")
    void inOrder() throws Exception {
        String topic = broker.topic(1);
        Set<String> failed = ConcurrentHashMap.newKeySet();
        try (Ledger first = new Ledger();
                Ledger second = new Ledger(first.url());
                KafkaRelay relay = new KafkaRelay(Map.of("bootstrap.servers", broker.server.address()), "/orders");
                KafkaRelay another = new KafkaRelay(Map.of("bootstrap.servers", broker.server.address()), "/orders");
                Outbox one = outbox(first, new Failing(relay, failed));
                Outbox two = outbox(second, new Failing(another, failed))) {
            one.start();
            two.start();
            acceptAll(one, first, topic);
            Broker.until(() -> {
                Outbox.Backlog backlog = one.backlog(MESSAGES);
                return backlog.waiting() + backlog.dead() == 0;
            });
        }
        int sent = MESSAGES
                + (int) failed.stream().filter(what -> what.startsWith("after")).count();
        check(broker.read(topic, sent));
    }

    @Test
    @DisplayName(
            "N5 lose nothing and keep the order when they are killed after publishing, before they have recorded it")
    void killed() throws Exception {
        String topic = broker.topic(1);
        List<Process> relays = new ArrayList<>();
        try (Ledger ledger = new Ledger();
                Outbox outbox = Outbox.of(ledger.once)) {
            acceptAll(outbox, ledger, topic);
            // All with one key: the next one is not published before the last one is recorded.
            for (int victim = KEYS; victim <= KILLS * KEYS; victim += KEYS) {
                String published = Integer.toString(victim);
                relays.add(RelayProcess.start(broker, ledger, published));
                relays.add(RelayProcess.start(broker, ledger, published));
                Broker.until(() -> ledger.effects().contains(published));
                kill(relays);
            }
            relays.add(RelayProcess.start(broker, ledger, ""));
            Broker.until(() -> outbox.backlog(MESSAGES).oldestAt().isEmpty());
        } finally {
            kill(relays);
        }
        List<ConsumerRecord<byte[], byte[]>> records = broker.read(topic, broker.size(topic));
        assertThat(records.size()).isGreaterThanOrEqualTo(MESSAGES + KILLS);
        check(records);
    }

    private static void kill(List<Process> relays) throws InterruptedException {
        relays.forEach(Process::destroyForcibly);
        for (Process relay : relays) {
            relay.waitFor();
        }
        relays.clear();
    }

    private static Outbox outbox(Ledger ledger, DeliveryHandler handler) {
        return Outbox.builder(ledger.once)
                .handler(KafkaRelay.TOPIC, handler)
                .concurrency(4)
                .backoff(Duration.ofMillis(5), Duration.ofMillis(20))
                .pollEvery(Duration.ofMillis(20))
                .build();
    }

    private static Key key(int number) {
        return Key.of("shop", "publish", Integer.toString(number));
    }

    /** The messages of a key one after the other, those of different keys at once. */
    private static void acceptAll(Outbox outbox, Ledger ledger, String topic) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(KEYS);
        try {
            List<Future<?>> accepting = new ArrayList<>();
            for (int i = 0; i < KEYS; i++) {
                int first = i;
                accepting.add(threads.submit(() -> {
                    for (int number = first; number < MESSAGES; number += KEYS) {
                        accept(outbox, ledger, topic, number);
                    }
                    return null;
                }));
            }
            for (Future<?> each : accepting) {
                each.get(2, TimeUnit.MINUTES);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void accept(Outbox outbox, Ledger ledger, String topic, int number) throws Exception {
        OutgoingMessage message = OutgoingMessage.json(
                topic, bytes("customer-" + number % KEYS), "order.paid", bytes(Integer.toString(number)));
        try (Connection transaction = ledger.source.getConnection()) {
            transaction.setAutoCommit(false);
            outbox.accept(transaction, key(number), FINGERPRINT, String.class, message.call(KafkaRelay.TOPIC));
            transaction.commit();
        }
    }

    /** What was sent twice has its id twice; a consumer looks at the first. */
    private static void check(List<ConsumerRecord<byte[], byte[]>> records) {
        Map<String, List<Integer>> byKey = new TreeMap<>();
        Set<String> ids = new HashSet<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (ids.add(Broker.header(record, "ce_id"))) {
                byKey.computeIfAbsent(new String(record.key(), StandardCharsets.UTF_8), key -> new ArrayList<>())
                        .add(Integer.parseInt(new String(record.value(), StandardCharsets.UTF_8)));
            }
        }
        assertThat(ids).hasSize(MESSAGES);
        assertThat(byKey).hasSize(KEYS);
        byKey.forEach((key, numbers) -> assertThat(numbers).as(key).isSorted());
    }
}
