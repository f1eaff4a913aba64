package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.MemoryStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A node's audit")
class AuditRetentionTest {
    private static final Key KEY = Key.of("acme", "POST /payments", "order-1");
    private static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));

    private final ManualTime time = new ManualTime();
    private final Onlyonce.Builder builder = Onlyonce.builder(new MemoryStore(time))
            .node("node-1")
            .time(time)
            .sweepEvery(Duration.ofDays(1))
            .purgeEvery(Duration.ofDays(1))
            .retention(Duration.ofHours(1));

    @Test
    @DisplayName("S2 names the node, outlives the entry, and is purged in the background after its own retention")
    void retention() {
        try (Onlyonce once = builder.auditRetention(Duration.ofDays(10)).build()) {
            once.execute(KEY, REQUEST, Codec.text(), claim -> "paid");
            assertThat(once.operator().history(KEY))
                    .extracting(
                            r -> r.transition().who() + ": " + r.transition().why())
                    .containsExactly("node-1: claimed", "node-1: completed");
            time.advance(Duration.ofDays(9));
            assertThat(once.find(KEY)).isEmpty();
            assertThat(once.operator().history(KEY)).hasSize(2);
            assertThat(once.operator().audit(AuditQuery.all(10)))
                    .isEqualTo(once.operator().history(KEY));
            time.advance(Duration.ofDays(3));
            assertThat(once.operator().history(KEY)).isEmpty();
        }
    }

    @Test
    @DisplayName("S2 is kept for 400 days unless told otherwise, and never for no time at all")
    void standard() {
        try (Onlyonce once = builder.build()) {
            once.execute(KEY, REQUEST, Codec.text(), claim -> "paid");
            // Not step by step: that would be tens of millions of heartbeats.
            time.jump(Duration.ofDays(397));
            time.advance(Duration.ofDays(2));
            assertThat(once.operator().history(KEY)).hasSize(2);
            time.advance(Duration.ofDays(3));
            assertThat(once.operator().history(KEY)).isEmpty();
        }
        assertThatThrownBy(() -> builder.auditRetention(Duration.ZERO).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("auditRetention must be positive");
    }
}
