package dev.onlyonce.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

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
}
