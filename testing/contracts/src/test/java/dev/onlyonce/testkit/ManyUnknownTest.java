package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Begun;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler.Finding;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.MemoryStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Many unknown entries")
class ManyUnknownTest {
    private static final String OPERATION = "POST /payments";
    private static final Duration WATCHED = Duration.ofMinutes(10);
    private static final long PAGE_NANOS = Duration.ofMillis(200).toNanos();

    private final ManualTime time = new ManualTime();
    private final AtomicLong readNanos = new AtomicLong();
    private final AtomicInteger lists = new AtomicInteger();

    @Test
    @DisplayName("are not listed by every node each second: reading them takes a small part of its time")
    void shareOfTime() {
        watch(1_000);
        assertThat(readNanos.get()).isBetween(1L, WATCHED.toNanos() / 8);
    }

    @Test
    @DisplayName("while a few are listed each second")
    void few() {
        watch(10);
        assertThat(lists.get()).isBetween(590, 610);
    }

    /** A node with a store that needs 200 ms for each page. */
    private void watch(int unknown) {
        ForwardingTime slow = new ForwardingTime(time.alone()) {
            @Override
            public long nanos() {
                return super.nanos() + readNanos.get();
            }
        };
        Mutated store = new Mutated(new MemoryStore(time)) {
            @Override
            public List<Entry> list(EntryQuery query) {
                readNanos.addAndGet(PAGE_NANOS);
                lists.incrementAndGet();
                return super.list(query);
            }
        };
        try (Onlyonce once = Onlyonce.builder(store)
                .time(slow)
                .reconciler(OPERATION, entry -> new Finding.CannotTell("nobody knows"))
                .build()) {
            for (int i = 0; i < unknown; i++) {
                Begun begun = once.begin(Key.of("acme", OPERATION, "k-" + i), Requests.fingerprint("10 EUR"));
                ((Begun.Claimed) begun).claim().unknown("a test");
            }
            time.advance(WATCHED);
        } finally {
            store.close();
            time.close();
        }
    }
}
