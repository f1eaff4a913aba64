package dev.onlyonce.testkit;

import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import java.time.Duration;

/** Without faults it is a store like any other. */
final class FaultyStoreContractTest extends StoreContract {
    private final ManualTime time = new ManualTime();
    private final Store store = new FaultyStore(new MemoryStore(time));

    @Override
    protected Store open() {
        return store;
    }

    @Override
    protected void advance(Duration span) {
        time.jump(span);
    }
}
