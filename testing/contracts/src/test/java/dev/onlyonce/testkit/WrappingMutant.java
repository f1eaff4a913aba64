package dev.onlyonce.testkit;

import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;

/** A store that follows the rules, behind something that breaks one. Each of the enums has those of one subject. */
interface WrappingMutant extends Mutant {
    /** Breaks a store that follows the clock. */
    Store mutate(Store store, ShiftedTime clock);

    @Override
    default Store on(Time time) {
        ShiftedTime clock = new ShiftedTime(time);
        return mutate(new MemoryStore(clock), clock);
    }
}
