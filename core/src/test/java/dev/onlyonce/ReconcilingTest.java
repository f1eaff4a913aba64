package dev.onlyonce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Reconciler.Finding;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Reconciling")
final class ReconcilingTest {
    private static final String OPERATION = "POST /payments";
    private static final Fingerprint REQUEST = Fingerprint.of(new byte[] {1});

    @Test
    @DisplayName("D6 one entry that cannot be found out or recorded does not keep the others")
    void oneBadEntry() {
        try (Time time = Time.system();
                Onlyonce once = Onlyonce.builder(new MemoryStore(time))
                        .time(time)
                        .reconciler(OPERATION, entry -> finding(entry.id().key()))
                        .build()) {
            for (String key : List.of("a-nothing", "b-unrecordable", "c-found")) {
                unknown(once, key);
            }
            Reconciler.Round round = once.operator().reconcile();
            assertThat(round.undecided()).isEqualTo(1);
            assertThat(once.find(key("a-nothing")).orElseThrow().state()).isEqualTo(State.UNKNOWN);
            assertThat(once.find(key("c-found")).orElseThrow().state()).isEqualTo(State.COMPLETED);

            assertThat(once.find(key("b-unrecordable")).orElseThrow().state())
                    .as("too large a result is not stored, and the effect is not in doubt any more")
                    .isEqualTo(State.COMPLETED);
            assertThat(once.execute(key("b-unrecordable"), REQUEST, Codec.bytes(), claim -> new byte[0]))
                    .isInstanceOf(Outcome.Failed.class);
        }
    }

    @SuppressWarnings("NullAway") // what a careless reconciler answers
    private static Finding finding(String key) {
        return switch (key) {
            case "a-nothing" -> null;
            case "b-unrecordable" -> new Finding.Found(new byte[Policy.RESULT_BYTES_MAX + 1]);
            default -> new Finding.Found(key.getBytes(StandardCharsets.UTF_8));
        };
    }

    @Test
    @DisplayName("D11 an Error in the reconciler about one entry does not keep the others")
    void error() {
        try (Time time = Time.system();
                Onlyonce once = Onlyonce.builder(new MemoryStore(time))
                        .time(time)
                        .reconciler(OPERATION, entry -> {
                            if (entry.id().key().equals("a-error")) {
                                throw new StackOverflowError();
                            }
                            return new Reconciler.Finding.Found();
                        })
                        .build()) {
            unknown(once, "a-error");
            unknown(once, "b-found");
            assertThat(once.operator().reconcile()).isEqualTo(new Reconciler.Round(2, 1, 0, 1));
            assertThat(once.find(key("b-found")).orElseThrow().state()).isEqualTo(State.COMPLETED);
        }
    }

    @Test
    @DisplayName("D4 a doubt without a reason is recorded all the same")
    @SuppressWarnings("NullAway") // an exception without a message, say
    void noReason() {
        try (Time time = Time.system();
                Onlyonce once =
                        Onlyonce.builder(new MemoryStore(time)).time(time).build()) {
            Begun begun = once.begin(key("k"), REQUEST);
            ((Begun.Claimed) begun).claim().unknown(null);
            assertThat(once.find(key("k")).orElseThrow().state()).isEqualTo(State.UNKNOWN);
            assertThat(once.liveClaims()).isZero();
        }
    }

    private static Key key(String key) {
        return Key.of("acme", OPERATION, key);
    }

    private static void unknown(Onlyonce once, String key) {
        Begun begun = once.begin(key(key), REQUEST);
        ((Begun.Claimed) begun).claim().unknown("a test");
    }
}
