package dev.onlyonce.testkit;

import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.util.Arrays;
import java.util.stream.Stream;

/** A store that breaks one rule. */
interface Mutant {

    /** All of them. */
    static Stream<Mutant> all() {
        return Stream.of(
                        LifeMutant.all(),
                        Arrays.stream(ClaimMutant.values()),
                        Arrays.stream(SettleMutant.values()),
                        Arrays.stream(TimeMutant.values()),
                        Arrays.stream(AuditMutant.values()))
                .flatMap(mutants -> mutants);
    }

    /** A store that follows the time, and is broken. */
    Store on(Time time);
}
