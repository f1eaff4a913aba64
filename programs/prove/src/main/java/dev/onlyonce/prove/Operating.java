package dev.onlyonce.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.prove.Seen.Evicted;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** An operator at work: evicts what is settled, and settles what is unknown as the ledger has it. The store may be down meanwhile. */
final class Operating implements AutoCloseable {
    private static final int TRIES = 20;
    private static final String WHO = "prover";

    private final StoreAccess access;
    private final Onlyonce once;
    private final Ledger ledger;
    private final History history;
    private int resolved;

    Operating(String url, Ledger ledger, History history) {
        this.ledger = ledger;
        this.history = history;
        access = StoreAccess.await(url);
        once = Onlyonce.builder(access.store())
                .node("operator")
                .sweepEvery(Duration.ofSeconds(1))
                .build();
    }

    /** Returns whether the key may be used as new. */
    boolean evict(Work work) {
        long begun = System.nanoTime();
        boolean certain = true;
        try {
            if (!once.operator().evict(work.key(), WHO, "to see what follows")) {
                return false;
            }
            ledger.reverse(work, begun);
        } catch (RuntimeException e) {
            certain = false;
        }
        history.add(new Evicted(work, begun, System.nanoTime(), certain));
        return true;
    }

    /**
     * Settles an unknown entry as the ledger has it: an absence only when no call can be on its way any more. Its reconciler may do the same
     * at the same time.
     */
    void resolve(Work work) {
        try {
            Optional<Entry> entry = once.find(work.key());
            if (entry.isPresent() && entry.get().state() == State.UNKNOWN) {
                Optional<Resolution> resolution = resolution(entry.get(), ledger.find(work, ""));
                resolved += resolution.isPresent()
                                && once.operator()
                                                .resolve(resolution
                                                        .get()
                                                        .about(entry.get().createdAt()))
                                        instanceof SettleResult.Settled
                        ? 1
                        : 0;
            }
        } catch (StoreException e) {
            // Its reconciler will do it.
        }
    }

    private static Optional<Resolution> resolution(Entry entry, Optional<String> effect) {
        if (effect.isPresent()) {
            byte[] result = effect.get().getBytes(UTF_8);
            return Optional.of(
                    Resolution.found(entry.id(), entry.attempt(), Optional.of(result), WHO, "the ledger has it"));
        }
        boolean isOver = entry.settledAt() != null
                && Duration.between(entry.settledAt(), entry.readAt()).compareTo(Timing.CALL_MAX) > 0;
        return isOver
                ? Optional.of(Resolution.absent(entry.id(), entry.attempt(), WHO, "the ledger has nothing"))
                : Optional.empty();
    }

    /** How many entries it has settled. */
    int resolved() {
        return resolved;
    }

    /** What the audit has about a work. */
    List<AuditRecord> audit(Work work) {
        for (int i = 0; ; i++) {
            try {
                return once.operator().history(work.key());
            } catch (StoreException e) {
                if (i == TRIES) {
                    throw e;
                }
                Pause.millis(200);
            }
        }
    }

    @Override
    public void close() {
        once.close();
        access.close();
    }
}
