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

    private final StoreAccess access;
    private final Onlyonce once;
    private final Ledger ledger;
    private final History history;
    private int resolved;

    Operating(String url, Ledger ledger, History history) {
        this.ledger = ledger;
        this.history = history;
        access = StoreAccess.open(url);
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
            if (!once.operator().evict(work.key(), "prover", "to see what follows")) {
                return false;
            }
            ledger.reverse(work, begun);
        } catch (RuntimeException e) {
            certain = false;
        }
        history.add(new Evicted(work, begun, System.nanoTime(), certain));
        return true;
    }

    /** Settles an unknown entry whose effect the ledger shows. Its reconciler may do the same at the same time. */
    void resolve(Work work) {
        try {
            Optional<Entry> entry = once.find(work.key());
            Optional<String> effect = ledger.find(work, "");
            if (entry.isPresent() && entry.get().state() == State.UNKNOWN && effect.isPresent()) {
                SettleResult result = once.operator()
                        .resolve(Resolution.found(
                                        work.key().entryId(),
                                        entry.get().attempt(),
                                        Optional.of(effect.get().getBytes(UTF_8)),
                                        "prover",
                                        "the ledger has it")
                                .about(entry.get().createdAt()));
                resolved += result instanceof SettleResult.Settled ? 1 : 0;
            }
        } catch (StoreException e) {
            // Its reconciler will do it.
        }
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
