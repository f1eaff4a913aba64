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
    public Optional<JournaledCall> sending(String id, Instant at) {
        return watched(() -> journal.sending(id, at));
    }

    @Override
    public void expires(String id, Instant keyExpiresAt) {
        var unused = watched(() -> {
            journal.expires(id, keyExpiresAt);
            return true;
        });
    }

    @Override
    public boolean settle(String id, CallResponse answer, Verdict verdict, Instant at) {
        return watched(() -> journal.settle(id, answer, verdict, at));
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

    private <T> T watched(Supplier<T> use) {
        try {
            return use.get();
        } catch (JournalException e) {
            failed.accept(e);
            throw e;
        }
    }
}
