package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An absence")
class AbsenceTest {
    private static final String OPERATION = "POST /payments";
    private static final Key KEY = Key.of("acme", OPERATION, "k-1");
    private static final Fingerprint PRINT = Requests.fingerprint("10 EUR");
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration CALL_MAX = Duration.ofMinutes(5);

    private final ManualTime time = new ManualTime();
    /** The time of a process that is stopped: no heartbeat, no sweep. */
    private final ManualTime stopped = new ManualTime();

    private final MemoryStore store = new MemoryStore(time);
    private final List<String> effects = new ArrayList<>();
    private Duration absentAfter = CALL_MAX;

    private final Reconciler ledger = new Reconciler() {
        @Override
        public Finding reconcile(Entry unknown) {
            return effects.isEmpty() ? new Finding.Absent("not on the ledger") : new Finding.Found();
        }

        @Override
        public Duration absentAfter() {
            return absentAfter;
        }
    };

    private Onlyonce.Builder node() {
        return Onlyonce.builder(store)
                .time(time.alone())
                .lease(LEASE)
                .callMax(CALL_MAX)
                .cacheBytesMax(0)
                .reconciler(OPERATION, ledger);
    }

    @AfterEach
    void close() {
        store.close();
        stopped.close();
        time.close();
    }

    @Test
    @DisplayName("D20 is not believed while an owner that paused just before its effect may still make it")
    void pausedOwner() throws Exception {
        try (Onlyonce paused = node().time(stopped.alone()).build();
                Onlyonce other = node().build()) {
            paused.execute(KEY, PRINT, Codec.text(), claim -> {
                claim.ensureHeld();
                // The process is stopped here, for less than a call may take.
                time.advance(LEASE.plus(CALL_MAX).minusSeconds(2));
                assertThat(state()).isEqualTo(State.UNKNOWN);
                assertThat(other.execute(KEY, PRINT, Codec.text(), again -> effect("other")))
                        .isInstanceOf(Outcome.Unknown.class);
                return effect("paused");
            });
            time.advance(CALL_MAX);
            other.operator().reconcile();
            other.execute(KEY, PRINT, Codec.text(), again -> effect("other"));
            assertThat(effects).containsExactly("paused");
        }
    }

    @Test
    @DisplayName("D20 is believed as soon as the longest time that a call may take is over")
    void believed() {
        try (Onlyonce dead = node().time(stopped.alone()).build();
                Onlyonce other = node().build()) {
            dead.begin(KEY, PRINT);
            // The sweep and the reconciler come every few seconds. Pauses that double would end after 511 s.
            time.advance(LEASE.plus(CALL_MAX).plusSeconds(10));
            assertThat(state()).isEqualTo(State.RETRYABLE);
            other.execute(KEY, PRINT, Codec.text(), again -> effect("other"));
            assertThat(effects).containsExactly("other");
        }
    }

    @Test
    @DisplayName("D20 is not believed earlier if the reconciler changes its mind after the start")
    void changedMind() {
        try (Onlyonce dead = node().time(stopped.alone()).build();
                Onlyonce other = node().build()) {
            dead.begin(KEY, PRINT);
            absentAfter = Duration.ZERO;
            time.advance(LEASE.plus(CALL_MAX).minusSeconds(2));
            assertThat(other.operator().reconcile().absent()).isZero();
            assertThat(state()).isEqualTo(State.UNKNOWN);
        }
    }

    @Test
    @DisplayName("D20 that would be believed too early is refused at start-up, and when its operation is declared")
    void refused() {
        absentAfter = CALL_MAX.minusSeconds(1);
        assertThatThrownBy(() -> node().build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the reconciler of POST /payments believes an absence after PT4M59S")
                .hasMessageContaining("may take PT5M (callMax)");
        Policy longer =
                Policy.builder().lease(LEASE).callMax(CALL_MAX.multipliedBy(2)).build();
        absentAfter = CALL_MAX;
        try (Onlyonce once = node().build()) {
            assertThatThrownBy(() -> once.registry().declare(OPERATION, longer, Way.LEASED))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("callMax");
        }
    }

    private String effect(String by) {
        effects.add(by);
        return by;
    }

    private State state() {
        return store.find(List.of(KEY.entryId())).get(0).orElseThrow().state();
    }
}
