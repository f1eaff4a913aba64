package dev.onlyonce.sql.connections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Work on threads of our own")
final class OwnThreadsTest {
    @Test
    @DisplayName("D9 a database that never answers keeps its caller for a bounded time, and the outcome is open")
    void noAnswer() {
        CountDownLatch answer = new CountDownLatch(1);
        try {
            OwnThreads threads = new OwnThreads(Duration.ofMillis(20));
            assertThatThrownBy(() -> threads.run(
                            () -> {
                                answer.await();
                                return 1;
                            },
                            () -> {}))
                    .asInstanceOf(type(SQLException.class))
                    .satisfies(e -> assertThat(SqlFailure.of(SqlDatabase.H2, e)).isEqualTo(SqlFailure.ANSWER_LOST));
        } finally {
            answer.countDown();
        }
    }
}
