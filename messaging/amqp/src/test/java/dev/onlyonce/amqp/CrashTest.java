package dev.onlyonce.amqp;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Consumers that are killed, in a run with duplicates. The default build has a short run; the long one is {@code
 * -Donlyonce.amqp.messages=20000 -Donlyonce.amqp.kills=10}.
 */
@DisplayName("Consumers that are killed")
class CrashTest {
    private static final int MESSAGES = Integer.getInteger("onlyonce.amqp.messages", 1_500);
    private static final int KILLS =
            Integer.getInteger("onlyonce.amqp.kills", Boolean.getBoolean("onlyonce.thorough") ? 3 : 2);
    private static final int KEYS = 40;
    private static final int DUPLICATES_PERCENT = 30;

    private final long seed = Long.getLong("onlyonce.amqp.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /** The broker of these tests. */
    Broker broker() {
        return Broker.qpid();
    }

    @Test
    @Timeout(600)
    @DisplayName("N4 apply every message once, lose none, and keep the order of each key")
    void killed() throws Exception {
        Broker broker = broker();
        List<String> queues = List.of(broker.orderedQueue(), broker.orderedQueue());
        send(broker, queues);
        List<Process> consumers = new ArrayList<>();
        try (Ledger ledger = new Ledger()) {
            try {
                consumers.add(ConsumerProcess.start(broker, queues, ledger));
                consumers.add(ConsumerProcess.start(broker, queues, ledger));
                for (int kill = 1; kill <= KILLS; kill++) {
                    int enough = kill * MESSAGES / (KILLS + 1);
                    Broker.until(() -> ledger.table.count() >= enough);
                    int victim = random.nextInt(consumers.size());
                    consumers.get(victim).destroyForcibly().waitFor();
                    consumers.set(victim, ConsumerProcess.start(broker, queues, ledger));
                }
                Broker.until(() -> ledger.table.count() >= MESSAGES);
                // Duplicates may still come.
                queues.forEach(broker::untilEmpty);
            } finally {
                consumers.forEach(Process::destroyForcibly);
                for (Process consumer : consumers) {
                    consumer.waitFor();
                }
            }
            ledger.table.checkOnceInOrder(MESSAGES, seed);
        }
    }

    private void send(Broker broker, List<String> queues) {
        int[] sequence = new int[KEYS];
        List<String[]> sent = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            int key = random.nextInt(KEYS);
            String[] message = {queues.get(key % 2), "key" + key, "id" + i, "key" + key + ":" + sequence[key]++};
            sent.add(message);
            broker.send(message[0], message[1], message[2], message[3]);
            if (random.nextInt(100) < DUPLICATES_PERCENT) {
                // Near or far behind the first.
                int back =
                        random.nextBoolean() ? random.nextInt(Math.min(50, sent.size())) : random.nextInt(sent.size());
                String[] again = sent.get(sent.size() - 1 - back);
                broker.send(again[0], again[1], again[2], again[3]);
            }
        }
        broker.flush();
    }
}
