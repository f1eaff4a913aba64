package dev.onlyonce.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class MeasuredTest {
    @Test
    @DisplayName("rates and quantiles are those of all rounds together")
    void together() {
        Measured one = Measured.of(List.of(new long[] {4_000_000, 1_000_000}), 1_000_000_000, 30_000);
        Measured other = Measured.of(List.of(new long[] {2_000_000}, new long[] {3_000_000}), 1_000_000_000, 10_000);
        Measured both = Measured.together(List.of(one, other));
        assertThat(both.perSecond()).isEqualTo(2);
        assertThat(both.millis(0)).isEqualTo(1);
        assertThat(both.millis(0.5)).isEqualTo(2);
        assertThat(both.millis(1)).isEqualTo(4);
        assertThat(both.cpuMicros()).isEqualTo(10);
    }

    @Test
    @DisplayName("every call of every caller is counted, and a call that fails ends the run")
    void load() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Load load = new Load(Threads.platform(), 3);
        Measured measured = load.run(number -> calls::incrementAndGet, Duration.ofMillis(20));
        assertThat(measured.sorted()).hasSize(calls.get());

        Load.Callers failing = number -> () -> {
            throw new IllegalStateException("down");
        };
        assertThatThrownBy(() -> load.run(failing, Duration.ofMinutes(1))).hasRootCauseMessage("down");
    }

    @Test
    @DisplayName("the command line names benchmarks and options, and nothing else")
    void options() {
        Options options =
                Options.parse("fresh", "size", "--seconds", "0.5", "--databases", "sqlite", "--callers", "1,2");
        assertThat(options.benchmarks()).containsExactly("fresh", "size");
        assertThat(options.round()).isEqualTo(Duration.ofMillis(500));
        assertThat(options.databases()).containsExactly(Databases.Kind.SQLITE);
        assertThat(options.callers()).containsExactly(1, 2);
        assertThat(Options.parse().benchmarks()).isEqualTo(Options.ALL);
        assertThatThrownBy(() -> Options.parse("--nonsense", "1")).isInstanceOf(IllegalArgumentException.class);
    }
}
