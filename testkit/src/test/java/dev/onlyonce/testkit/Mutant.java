package dev.onlyonce.testkit;

import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.util.Arrays;
import java.util.stream.Stream;

/** A store that breaks one rule. Each of the enums has those of one subject. */
sealed interface Mutant permits ClaimMutant, SettleMutant, TimeMutant, AuditMutant {

    /** All of them: the compiler refuses an enum that is not among the permitted ones. */
    static Stream<Mutant> all() {
        return Arrays.stream(Mutant.class.getPermittedSubclasses())
                .flatMap(subject -> Arrays.stream(subject.getEnumConstants()))
                .map(Mutant.class::cast);
    }

    /** Breaks a store that follows the clock. */
    Store mutate(Store store, ShiftedTime clock);

    /** A store that follows the time, and is broken. */
    default Store on(Time time) {
        ShiftedTime clock = new ShiftedTime(time);
        return mutate(new MemoryStore(clock), clock);
    }
}
