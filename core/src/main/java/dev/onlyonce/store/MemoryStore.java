package dev.onlyonce.store;

/** Entries in this process's memory: for tests, and for data that need not survive the process. */
public final class MemoryStore extends TableStore {
    /** An empty store that follows the given clock. */
    public MemoryStore(Time time) {
        super(new MemoryTable(time));
    }
}
