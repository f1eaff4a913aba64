package dev.onlyonce.spring.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.ManualTime;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A listener")
class ListenerCallsTest {
    @Test
    @DisplayName("N7 D4 that was interrupted is in doubt, also if it says that it did nothing; before, it is believed")
    void interrupted() {
        try (Time time = Time.system();
                Onlyonce once =
                        Onlyonce.builder(new MemoryStore(time)).time(time).build()) {
            ListenerCalls patient = new ListenerCalls(once, MessageId.header("id"), Duration.ofHours(1));
            assertThatThrownBy(() -> patient.inTime("ship", () -> {
                        throw new NotExecuted("the line was busy");
                    }))
                    .isInstanceOf(NotExecuted.class);
            ListenerCalls calls = new ListenerCalls(once, MessageId.header("id"), Duration.ofMillis(50));
            assertThatThrownBy(() -> calls.inTime("ship", () -> {
                        try {
                            new CountDownLatch(1).await();
                            return "never";
                        } catch (InterruptedException e) {
                            throw new NotExecuted("interrupted", e);
                        }
                    }))
                    .isNotInstanceOf(NotExecuted.class)
                    .hasMessageContaining("unknown");
            assertThat(calls.hung()).isEmpty();
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @DisplayName(
            "D21 N7 that hangs is reported without blocking the threads of heartbeats, whoever receives the events")
    void reported() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch heard = new CountDownLatch(1);
        try (ManualTime time = new ManualTime();
                Onlyonce once = Onlyonce.builder(new MemoryStore(time))
                        .time(time)
                        .listener(event -> {
                            heard.countDown();
                            awaitQuietly(goOn);
                        })
                        .build()) {
            ListenerCalls calls = new ListenerCalls(once, MessageId.header("id"), Duration.ofMinutes(1));
            CurrentMessage.set(new CurrentMessage.Delivered("group", "topic", () -> {
                throw new IllegalStateException("never read");
            }));
            calls.inTime("ship", () -> {
                // On this thread, as on one of the background.
                time.advance(Duration.ofMinutes(1));
                assertThat(Thread.interrupted()).isTrue();
                return "done";
            });
            heard.await();
        } finally {
            CurrentMessage.clear();
            goOn.countDown();
        }
    }

    private static void awaitQuietly(CountDownLatch goOn) {
        try {
            goOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
