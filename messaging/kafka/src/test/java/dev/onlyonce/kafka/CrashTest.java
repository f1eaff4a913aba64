package dev.onlyonce.kafka;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Consumers that are killed, in a run with duplicates. The default build has a short run; the long one is {@code
 * -Donlyonce.kafka.messages=20000 -Donlyonce.kafka.kills=10}.
 */
@DisplayName("Consumers that are killed")
class CrashTest {
    private static final int MESSAGES = Integer.getInteger("onlyonce.kafka.messages", 1_500);
    private static final int KILLS =
            Integer.getInteger("onlyonce.kafka.kills", Boolean.getBoolean("onlyonce.thorough") ? 3 : 2);
    private static final int KEYS = 40;
    private static final int DUPLICATES_PERCENT = 30;

    private final long seed = Long.getLong("onlyonce.kafka.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @Test
    @Timeout(600)
    @DisplayName("apply every message once, lose none, and keep the order of each key")
    void killed() throws Exception {
        Broker broker = Broker.shared();
        String topic = broker.topic(4);
        send(broker, topic);
        List<Process> consumers = new ArrayList<>();
        try (Ledger ledger = new Ledger()) {
            try {
                consumers.add(ConsumerProcess.start(broker, topic, ledger));
                consumers.add(ConsumerProcess.start(broker, topic, ledger));
                for (int kill = 1; kill <= KILLS; kill++) {
                    int enough = kill * MESSAGES / (KILLS + 1);
                    Broker.until(() -> ledger.table.count() >= enough);
                    int victim = random.nextInt(consumers.size());
                    consumers.get(victim).destroyForcibly().waitFor();
                    consumers.set(victim, ConsumerProcess.start(broker, topic, ledger));
                }
                Broker.until(() -> ledger.table.count() >= MESSAGES);
                // Duplicates may still come.
                broker.send(topic, "end", "end", "end:0");
                broker.flush();
                Broker.until(() -> ledger.table.count() > MESSAGES);
            } finally {
                consumers.forEach(Process::destroyForcibly);
                for (Process consumer : consumers) {
                    consumer.waitFor();
                }
            }
            ledger.table.checkOnceInOrder(MESSAGES + 1, seed);
        }
    }

    private void send(Broker broker, String topic) {
        int[] sequence = new int[KEYS];
        List<String[]> sent = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            int key = random.nextInt(KEYS);
            String[] message = {"key" + key, "id" + i, "key" + key + ":" + sequence[key]++};
            sent.add(message);
            broker.send(topic, message[0], message[1], message[2]);
            if (random.nextInt(100) < DUPLICATES_PERCENT) {
                // Near or far behind the first.
                int back =
                        random.nextBoolean() ? random.nextInt(Math.min(50, sent.size())) : random.nextInt(sent.size());
                String[] again = sent.get(sent.size() - 1 - back);
                broker.send(topic, again[0], again[1], again[2]);
            }
        }
        broker.flush();
    }
}
