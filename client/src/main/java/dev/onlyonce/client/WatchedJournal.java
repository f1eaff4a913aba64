package dev.onlyonce.client;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Reports every failure of a journal, and throws it on. */
final class WatchedJournal implements Journal {
    private final Journal journal;
    private final Consumer<JournalException> failed;

    WatchedJournal(Journal journal, Consumer<JournalException> failed) {
        this.journal = journal;
        this.failed = failed;
    }

    @Override
    public Optional<JournaledCall> begin(JournaledCall call) {
        return watched(() -> journal.begin(call));
    }

    @Override
    public void sending(String id, Instant at) {
        watchedChange(() -> journal.sending(id, at));
    }

    @Override
    public void expires(String id, Instant keyExpiresAt) {
        watchedChange(() -> journal.expires(id, keyExpiresAt));
    }

    @Override
    public void settle(String id, CallResponse answer, Instant at) {
        watchedChange(() -> journal.settle(id, answer, at));
    }

    @Override
    public Optional<JournaledCall> find(String id) {
        return watched(() -> journal.find(id));
    }

    @Override
    public List<String> pending() {
        return watched(journal::pending);
    }

    @Override
    public boolean forget(String id) {
        return watched(() -> journal.forget(id));
    }

    @Override
    public void close() {
        journal.close();
    }

    private void watchedChange(Runnable use) {
        var unused = watched(() -> {
            use.run();
            return true;
        });
    }

    private <T> T watched(Supplier<T> use) {
        try {
            return use.get();
        } catch (JournalException e) {
            failed.accept(e);
            throw e;
        }
    }
}
