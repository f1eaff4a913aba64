package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Way;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreLimits;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A store of items of at most 1000 bytes that knows no transactions. */
class StoreLimitsTest {
    private static final String OPERATION = "POST /payments";

    private final ManualTime time = new ManualTime();
    private final Store store = new ForwardingStore(new MemoryStore(time)) {
        @Override
        public StoreLimits limits() {
            return new StoreLimits(1000, false);
        }
    };

    @AfterEach
    void close() {
        time.close();
    }

    private Onlyonce.Builder builder() {
        return Onlyonce.builder(new FaultyStore(store)).time(time);
    }

    @Test
    @DisplayName("E1 results larger than the store holds are refused at start-up, for every policy there is")
    void results() {
        assertThatThrownBy(() -> builder().build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("resultBytesMax must be at most 1000, the largest result that the store holds: 1048576");
        assertThatThrownBy(() -> builder()
                        .resultBytesMax(1000)
                        .operation(OPERATION, o -> o.resultBytesMax(1001))
                        .build())
                .hasMessageContaining("1001");
        try (Onlyonce once = builder().resultBytesMax(1000).build()) {
            assertThatThrownBy(() -> once.registry().declare(OPERATION, Policy.standard(), Way.LEASED))
                    .hasMessageContaining("at most 1000");
        }
    }

    @Test
    @DisplayName("E1 a way that needs a transaction is refused at start-up on a store without")
    void ways() {
        Onlyonce.Builder queued = builder().resultBytesMax(1).operation(OPERATION, o -> o.way(Way.QUEUED));
        assertThatThrownBy(queued::build)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(OPERATION)
                .hasMessageContaining("QUEUED")
                .hasMessageContaining("use a SqlStore, or the LEASED way");
        assertThatCode(() -> builder()
                        .resultBytesMax(1)
                        .operation(OPERATION, o -> o.way(Way.LEASED))
                        .build()
                        .close())
                .doesNotThrowAnyException();
    }
}
