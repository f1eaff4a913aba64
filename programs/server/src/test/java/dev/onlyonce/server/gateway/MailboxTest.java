package dev.onlyonce.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@DisplayName("What other threads bring to an event loop")
@Isolated
class MailboxTest {
    private static final int THREADS = 4;
    private static final int TASKS = 50_000;
    private static final long ENOUGH_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private final Mailbox mailbox = new Mailbox(context);

    @AfterEach
    void stop() {
        vertx.close().await();
    }

    @Test
    @DisplayName("every task runs, on the loop, in the order of its thread")
    void all() throws Exception {
        CountDownLatch left = new CountDownLatch(THREADS * TASKS);
        AtomicInteger wrong = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int[] last = {-1};
            threads.add(new Thread(() -> {
                for (int task = 0; task < TASKS; task++) {
                    int number = task;
                    mailbox.execute(() -> {
                        boolean inOrder = number == ++last[0];
                        if (!inOrder || Vertx.currentContext() != context) {
                            wrong.incrementAndGet();
                        }
                        left.countDown();
                    });
                }
            }));
        }
        threads.forEach(Thread::start);
        assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(wrong).hasValue(0);
    }

    @Test
    @DisplayName("a task that comes just as the last one has run is not forgotten")
    void lateComers() {
        AtomicInteger ran = new AtomicInteger();
        long begun = System.nanoTime();
        // On a busy machine each of them waits for a processor.
        for (int task = 1; task <= TASKS && System.nanoTime() - begun < ENOUGH_NANOS; task++) {
            mailbox.execute(ran::incrementAndGet);
            long since = System.nanoTime();
            while (ran.get() < task) {
                assertThat(System.nanoTime() - since).isLessThan(PATIENCE_NANOS);
                Thread.onSpinWait();
            }
        }
    }

    @Test
    @DisplayName("a task that fails keeps no other from running")
    void failing() throws Exception {
        AtomicBoolean ran = new AtomicBoolean();
        CountDownLatch done = new CountDownLatch(1);
        mailbox.execute(() -> {
            throw new IllegalStateException("broken");
        });
        mailbox.execute(() -> ran.set(true));
        mailbox.execute(done::countDown);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        assertThat(ran).isTrue();
    }
}
