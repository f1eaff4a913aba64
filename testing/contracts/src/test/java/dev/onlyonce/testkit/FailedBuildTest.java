package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.MemoryStore;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A build that fails")
class FailedBuildTest {
    private final ManualTime time = new ManualTime();

    static Stream<Consumer<Onlyonce.Builder>> mistakes() {
        return Stream.of(
                builder -> builder.sweepEvery(Duration.ZERO),
                builder -> builder.purgeEvery(Duration.ZERO),
                builder -> builder.reconcileEvery(Duration.ofSeconds(-1)),
                builder -> builder.storeWaitMax(Duration.ZERO),
                builder -> builder.queueMax(0),
                builder -> builder.lease(Duration.ZERO));
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    @DisplayName("leaves no background work behind")
    void nothingStarted(Consumer<Onlyonce.Builder> mistake) {
        Onlyonce.Builder builder = Onlyonce.builder(new MemoryStore(time)).time(time);
        assertThatThrownBy(() -> {
                    mistake.accept(builder);
                    builder.build();
                })
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(time.tasks()).isZero();
    }
}
