package dev.onlyonce.testkit;

import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import java.time.Duration;

/** The contract on the store in memory, which is its reference. */
final class MemoryStoreTest extends StoreContract {
    private final ManualTime time = new ManualTime();
    private final Store store = new MemoryStore(time);

    @Override
    protected Store open() {
        return store;
    }

    @Override
    protected void advance(Duration span) {
        time.jump(span);
    }
}
