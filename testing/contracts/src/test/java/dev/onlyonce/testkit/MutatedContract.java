package dev.onlyonce.testkit;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.Store;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The contract on a broken store. Not run by itself: {@link StoreContractTest} says which store and expects failures. */
final class MutatedContract extends StoreContract {
    static volatile @Nullable Mutant mutant;

    private final ManualTime time = new ManualTime();
    private final Store store = requireNonNull(mutant).on(time);

    @Override
    protected Store open() {
        return store;
    }

    @Override
    protected void advance(Duration span) {
        time.jump(span);
    }
}
