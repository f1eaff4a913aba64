package dev.onlyonce.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Consumers that are killed, in a run with duplicates. The default build has a short run; the long one is {@code
 * -Donlyonce.sqs.messages=20000 -Donlyonce.sqs.kills=10}.
 */
@DisplayName("Consumers that are killed")
class CrashTest {
    private static final int MESSAGES = Integer.getInteger("onlyonce.sqs.messages", 1_500);
    private static final int KILLS =
            Integer.getInteger("onlyonce.sqs.kills", Boolean.getBoolean("onlyonce.thorough") ? 3 : 2);
    private static final int KEYS = 40;
    private static final int DUPLICATES_PERCENT = 30;

    private final long seed = Long.getLong("onlyonce.sqs.seed", System.nanoTime());
    private final Random random = new Random(seed);

    @Test
    @Timeout(600)
    @DisplayName("N4 apply every message once, lose none, and keep the order of each group")
    void killed() throws Exception {
        Broker broker = Broker.shared();
        String queue = broker.fifo();
        int copies = send(broker, queue);
        List<Process> consumers = new ArrayList<>();
        try (Ledger ledger = new Ledger()) {
            try {
                consumers.add(ConsumerProcess.start(broker, queue, ledger));
                consumers.add(ConsumerProcess.start(broker, queue, ledger));
                for (int kill = 1; kill <= KILLS; kill++) {
                    int enough = kill * MESSAGES / (KILLS + 1);
                    Broker.until(() -> ledger.table.count() >= enough);
                    int victim = random.nextInt(consumers.size());
                    consumers.get(victim).destroyForcibly().waitFor();
                    consumers.set(victim, ConsumerProcess.start(broker, queue, ledger));
                }
                Broker.until(() -> broker.size(queue) == 0);
            } finally {
                consumers.forEach(Process::destroyForcibly);
                for (Process consumer : consumers) {
                    consumer.waitFor();
                }
            }
            assertThat(copies).isGreaterThan(MESSAGES);
            ledger.table.checkOnceInOrder(MESSAGES, seed);
        }
    }

    /** Sends each group's messages one after the other, and the groups at once. */
    private int send(Broker broker, String queue) {
        List<List<String[]>> groups = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            groups.add(new ArrayList<>());
        }
        int[] sequence = new int[KEYS];
        int copies = 0;
        for (int i = 0; i < MESSAGES; i++) {
            int key = random.nextInt(KEYS);
            List<String[]> group = groups.get(key);
            group.add(new String[] {"id" + i, "key" + key + ":" + sequence[key]++});
            copies++;
            if (random.nextInt(100) < DUPLICATES_PERCENT) {
                // Near or far behind the first.
                int back =
                        random.nextBoolean() ? random.nextInt(Math.min(5, group.size())) : random.nextInt(group.size());
                group.add(group.get(group.size() - 1 - back));
                copies++;
            }
        }
        List<CompletableFuture<?>> chains = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            String name = "key" + key;
            CompletableFuture<?> chain = CompletableFuture.completedFuture(null);
            for (String[] message : groups.get(key)) {
                chain = chain.thenCompose(before -> broker.send(queue, name, Broker.id(message[0]), message[1]));
            }
            chains.add(chain);
        }
        chains.forEach(CompletableFuture::join);
        return copies;
    }
}
