package dev.onlyonce.testkit.messages;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A database that goes away, and consumers that end. */
interface TroublePart extends ConsumerPart {

    @Test
    @DisplayName(
            "N4 while the database is away messages wait: none is lost, given up, or applied twice, and no try is lost")
    default void storeDown() {
        AtomicBoolean stopped = new AtomicBoolean();
        // The first try is the last: a try that the database's absence cost would show.
        RunningConsumer consumer = bench().transactional(1, (transaction, body) -> {
            EffectTable.write(transaction, body);
            if (body.equals("body50") && stopped.compareAndSet(false, true)) {
                bench().store().stop();
            }
        });
        bench().topic().send(RepeatPart.several(100));
        ConsumerBench.until("the database stops in the middle", stopped::get);
        ConsumerBench.until("it is missed", () -> bench().store().refused() >= 10);
        bench().store().start();
        ConsumerBench.until("all are applied", () -> bench().effects().size() >= 100);
        assertThat(consumer.dead()).isZero();
        assertThat(bench().effects()).hasSize(100).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N4 a consumer that is closed in the middle leaves the rest to the next")
    default void closedInTheMiddle() {
        bench().topic().send(RepeatPart.several(100));
        CountDownLatch inTheMiddle = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        RunningConsumer first = bench().transactional(ConsumerBench.MANY_TRIES, (transaction, body) -> {
            EffectTable.write(transaction, body);
            if (body.equals("body60")) {
                throw new IllegalStateException("not here");
            }
            if (body.equals("body50")) {
                inTheMiddle.countDown();
                goOn.await();
            }
        });
        ConsumerBench.until("it is in the middle", () -> inTheMiddle.getCount() == 0);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(first::close);
        goOn.countDown();
        closed.join();
        assertThat(bench().effects()).doesNotContain("body60");
        RunningConsumer second = bench().transactional(1, EffectTable::write);
        ConsumerBench.until("the rest is applied", () -> bench().effects().size() >= 100);
        // It counts after the commit.
        ConsumerBench.until("the second has counted", () -> second.applied() > 0);
        assertThat(bench().effects()).hasSize(100).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N4 an interrupt of its thread that comes after a handler has ended does not end a consumer")
    default void lateInterrupt() {
        AtomicReference<Thread> thread = new AtomicReference<>();
        RunningConsumer consumer = bench().transactional(1, (transaction, body) -> {
            EffectTable.write(transaction, body);
            thread.set(Thread.currentThread());
        });
        for (int i = 1; i <= 5; i++) {
            bench().send(SentMessage.of("key", "id" + i, "body" + i));
            int sent = i;
            ConsumerBench.until("it is applied", () -> consumer.applied() == sent);
            requireNonNull(thread.get()).interrupt();
        }
        assertThat(consumer.dead()).isZero();
    }
}
