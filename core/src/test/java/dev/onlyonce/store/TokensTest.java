package dev.onlyonce.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("it sets back what classes of the JDK keep")
@DisplayName("Tokens")
class TokensTest {
    private static final int COUNT = 200;

    /** Generators that will not do: they keep a state or a buffer in this process. */
    static final class Kept {
        static final SecureRandom SECURE = new SecureRandom();

        static final class Counting {
            static long node = new SecureRandom().nextLong();
            static long count;
        }

        private Kept() {}
    }

    @Test
    @DisplayName("D19 two processes restored from one snapshot of a JVM never make the same token")
    void restored() throws Exception {
        assertThat(shared(Tokens.class, Tokens::next)).isEmpty();
        assertThat(shared(Tokens.class, () -> Arrays.toString(Tokens.bytes(12))))
                .as("nonces")
                .isEmpty();
    }

    @Test
    @DisplayName("would be the same after a restore if a counter, a seed or a buffer made them")
    void kept() throws Exception {
        assertThat(shared(Kept.Counting.class, () -> new UUID(Kept.Counting.node, ++Kept.Counting.count)))
                .hasSize(COUNT);
        assertThat(shared(Kept.class, () -> ThreadLocalRandom.current().nextLong()))
                .hasSize(COUNT);
        // A buffer is read again until it is used up.
        assertThat(shared(Kept.class, Kept.SECURE::nextLong)).isNotEmpty();
    }

    /** What a process and its restored copy both make. */
    private static <T> List<T> shared(Class<?> maker, Supplier<T> make) throws Exception {
        List<T> warm = made(make);
        HeapImage image = HeapImage.of(maker);
        assertThat(image.size()).isPositive();
        assertThat(warm).hasSize(COUNT);
        List<T> first = made(make);
        image.restore();
        List<T> again = made(make);
        assertThat(Stream.concat(first.stream(), again.stream()))
                .as("all of both")
                .hasSize(2 * COUNT);
        return again.stream().filter(first::contains).toList();
    }

    private static <T> List<T> made(Supplier<T> make) {
        return IntStream.range(0, COUNT).mapToObj(i -> make.get()).toList();
    }
}
