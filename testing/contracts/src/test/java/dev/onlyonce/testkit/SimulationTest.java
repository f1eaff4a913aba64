package dev.onlyonce.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.FailureRule;
import dev.onlyonce.store.MemoryStore;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class SimulationTest {
    /** More of them: {@code -Donlyonce.seeds=100000}. */
    private static final int SEEDS =
            Integer.getInteger("onlyonce.seeds", Boolean.getBoolean("onlyonce.thorough") ? 2000 : 200);
    /** So many seeds find every planted fault several times over. */
    private static final int SEEDS_FOR_A_FAULT = 400;

    private final Simulation simulation = Simulation.on(MemoryStore::new);

    @Test
    @DisplayName(
            "C1 C5 F1 R1 R3 D1 D2 D6 T5 whatever goes wrong, nothing happens twice and nobody is left without an answer")
    void holds() {
        simulation.run(1, SEEDS);
    }

    @ParameterizedTest
    @EnumSource(
            value = Trouble.class,
            names = {"LOCKED_ROWS", "INTERRUPTS", "ERRORS", "OUTAGES", "EVICTIONS"})
    @DisplayName("D11 D12 D13 D15 D16 one kind of trouble alone reaches nobody whom it does not concern")
    void alone(Trouble trouble) {
        simulation.only(trouble).run(1, SEEDS / 2);
    }

    @Test
    @DisplayName("the same seed gives the same run, step by step, and another seed another one")
    void deterministic() {
        for (long seed = 1; seed <= 15; seed++) {
            List<String> trace = simulation.trace(seed);
            assertThat(trace).isEqualTo(simulation.trace(seed)).isNotEqualTo(simulation.trace(seed + 1));
        }
    }

    @ParameterizedTest
    @MethodSource
    @DisplayName("a store with a planted fault is found out, with the seed and the trace")
    void findsFaultsOfStores(Mutant mutant) {
        assertThatThrownBy(() -> Simulation.on(mutant::on).run(1, SEEDS_FOR_A_FAULT))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("-Donlyonce.seed=")
                .hasMessageContaining("asks node-");
    }

    static Stream<Mutant> findsFaultsOfStores() {
        return Stream.of(
                SettleMutant.SETTLES_WITH_ANY_TOKEN,
                ClaimMutant.FORGETS_THE_FINGERPRINT_ON_TAKEOVER,
                ClaimMutant.TELLS_LOSERS_THEY_WON,
                ClaimMutant.LETS_LOSERS_EXTEND_THE_LEASE,
                TimeMutant.KEEPS_THE_TOKEN_WHEN_SWEEPING,
                ClaimMutant.TAKES_OVER_LAPSED_CLAIMS,
                ClaimMutant.LETS_CLIENTS_CLAIM_UNKNOWN_ENTRIES,
                TimeMutant.ANSWERS_HEARTBEATS_WITHOUT_RENEWING,
                SettleMutant.ACKNOWLEDGES_WITHOUT_RECORDING);
    }

    @Test
    @DisplayName("D4 taking an exception for proof that nothing happened is found out")
    void findsReleaseOnException() {
        Simulation releasing = simulation.failures(thrown -> new FailureRule.Verdict.NoEffect());
        assertThatThrownBy(() -> releasing.run(1, SEEDS_FOR_A_FAULT))
                .hasMessageContaining("the effect happened 2 times");
    }

    @Test
    @DisplayName("the trouble is real: effects, crashes, late calls, lost answers and zombies all occur")
    void occurs() {
        StringBuilder all = new StringBuilder();
        for (long seed = 1; seed <= 100; seed++) {
            simulation.trace(seed).forEach(line -> all.append(line).append('\n'));
        }
        assertThat(all)
                .contains("crashes before the effect", "crashes after the effect", "crashes after CLAIM")
                .contains("crashes after SETTLE")
                .contains(
                        "arrives late",
                        "arrives now",
                        "is done in part: 1",
                        "the answer is lost",
                        "is slow on its way",
                        "busy")
                .contains("is cut off", "has a clock wrong", "RETRYABLE → PROCESSING", "PROCESSING → UNKNOWN")
                .contains("UNKNOWN → COMPLETED", "UNKNOWN → RETRYABLE", "attempt 3")
                .contains("holds ", "and the store cannot tell", "breaks", "evicted ")
                .contains("Executed", "Replayed", "InFlight", "Mismatched", "Unknown", "Expired", "LeaseLost");
    }
}
