package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Begun;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.SettleResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A node that goes on after a pause")
class PausedNodeTest {
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration PAUSE = LEASE.multipliedBy(3);
    private static final int CLAIMS = 600;

    private final ManualTime time = new ManualTime();
    private final ManualTime storeTime = new ManualTime();
    private final MemoryStore memory = new MemoryStore(storeTime);

    @AfterEach
    void close() {
        memory.close();
        storeTime.close();
        time.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("D3 renews its own claims before it sweeps, whether its own clock stood still or not")
    void sweep(boolean stoodStill) {
        Duration[] paused = {Duration.ZERO};
        var itsTime = new ForwardingTime(time.alone()) {
            @Override
            public Instant now() {
                return super.now().plus(paused[0]);
            }

            @Override
            public long nanos() {
                return super.nanos() + (stoodStill ? 0 : paused[0].toNanos());
            }
        };
        try (Onlyonce once = Onlyonce.builder(memory).time(itsTime).lease(LEASE).build()) {
            List<OpenClaim> claims = new ArrayList<>();
            for (int i = 0; i < CLAIMS; i++) {
                Key key = Key.of("acme", "POST /payments", "k-" + i);
                claims.add(((Begun.Claimed) once.begin(key, PRINT)).claim());
            }
            once.operator().sweep();
            storeTime.advance(PAUSE);
            paused[0] = PAUSE;
            assertThat(once.operator().sweep()).isZero();
            assertThat(claims).allMatch(OpenClaim::isHeld);
            for (OpenClaim claim : claims) {
                assertThat(claim.complete(Requests.bytes("paid"))).isInstanceOf(SettleResult.Settled.class);
            }
        }
    }
}
