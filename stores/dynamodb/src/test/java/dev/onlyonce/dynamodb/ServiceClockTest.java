package dev.onlyonce.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.dynamodb.StoreClock.Reading;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The service's clock")
class ServiceClockTest {
    private static final Instant START = Instant.parse("2026-11-16T12:00:00.400Z");
    /** What the bounds have on both sides for hosts whose clocks are apart. */
    private static final long APART = 100_000;

    private long nanos = 5_000_000_000L;
    private Instant service = START;
    private final ServiceClock clock = new ServiceClock(() -> nanos);

    private void pass(Duration span) {
        nanos += span.toNanos();
        service = service.plus(span);
    }

    /** An answer whose date the service writes after this part of the round trip. */
    private void answer(Duration there, Duration back) {
        long sent = nanos;
        pass(there);
        Instant date = service.truncatedTo(ChronoUnit.SECONDS);
        pass(back);
        clock.observe(sent, date);
    }

    private void assertBounds() {
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, service);
        assertThat(clock.now().earliest()).isLessThanOrEqualTo(micros);
        assertThat(clock.now().latest()).isGreaterThanOrEqualTo(micros);
    }

    @Test
    @DisplayName("is not known before the first answer")
    void unknown() {
        assertThatThrownBy(clock::now).isInstanceOf(StoreUnavailable.class).hasMessageContaining("endpoint");
    }

    @Test
    @DisplayName("T5 is within a second and the round trip of the first answer")
    void first() {
        answer(Duration.ofMillis(20), Duration.ofMillis(30));
        assertBounds();
        Reading now = clock.now();
        assertThat(now.latest() - now.earliest()).isEqualTo(1_000_000 + 50_000 + 2 * APART);
    }

    @Test
    @DisplayName("T5 is known to about a round trip after some answers, and never wrong on the way")
    void narrows() {
        long seed = 7;
        Random random = new Random(seed);
        for (int i = 0; i < 200; i++) {
            answer(Duration.ofMillis(random.nextInt(10)), Duration.ofMillis(random.nextInt(10)));
            assertBounds();
            pass(Duration.ofMillis(random.nextInt(100)));
            assertBounds();
        }
        Reading now = clock.now();
        assertThat(now.latest() - now.earliest()).isLessThan(150_000 + 2 * APART);
    }

    @Test
    @DisplayName(
            "T5 keeps its bounds although this node's monotonic clock runs wrong, and widens them while nobody answers")
    void drifts() {
        answer(Duration.ofMillis(1), Duration.ofMillis(1));
        Reading before = clock.now();
        nanos += Duration.ofHours(10).toNanos();
        service = service.plus(Duration.ofHours(10)).plus(Duration.ofSeconds(15));
        assertBounds();
        Reading after = clock.now();
        assertThat(after.latest() - after.earliest()).isGreaterThan(before.latest() - before.earliest() + 30_000_000);
    }

    @Test
    @DisplayName("T5 follows the service when that is set, or when this machine was suspended")
    void jumps() {
        answer(Duration.ofMillis(1), Duration.ofMillis(1));
        service = service.plus(Duration.ofHours(1));
        answer(Duration.ofMillis(1), Duration.ofMillis(1));
        assertBounds();
        service = service.minus(Duration.ofHours(2));
        answer(Duration.ofMillis(1), Duration.ofMillis(1));
        assertBounds();
        answer(Duration.ofMillis(1), Duration.ofMillis(1));
        assertBounds();
        assertThat(clock.now().latest() - clock.now().earliest()).isLessThan(2_000_000);
    }

    @Test
    @DisplayName("T5 ends nothing because of one wrong answer, and the next right one corrects it")
    void wrongAnswer() {
        answer(Duration.ofMillis(1), Duration.ofMillis(1));
        for (Duration wrong : new Duration[] {Duration.ofHours(1), Duration.ofHours(-1)}) {
            clock.observe(nanos, service.plus(wrong).truncatedTo(ChronoUnit.SECONDS));
            assertBounds();
            answer(Duration.ofMillis(1), Duration.ofMillis(1));
            assertBounds();
            assertThat(clock.now().latest() - clock.now().earliest()).isLessThan(2_000_000);
        }
    }
}
