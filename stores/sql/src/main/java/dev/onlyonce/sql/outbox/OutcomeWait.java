package dev.onlyonce.sql.outbox;

import dev.onlyonce.Key;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Waits for the final outcome of an accepted entry. A worker of this node wakes the caller; for those of other nodes it polls. */
final class OutcomeWait {
    private static final Duration POLL_FIRST = Duration.ofMillis(20);
    private static final Duration POLL_LONGEST = Duration.ofMillis(500);

    private final OutboxContext context;

    OutcomeWait(OutboxContext context) {
        this.context = context;
    }

    /** As {@link Outbox#await}. */
    Optional<Outcome<byte[]>> await(Key key, Fingerprint fingerprint, Duration max) throws InterruptedException {
        EntryId id = key.entryId();
        Time time = context.settings().time();
        long until = time.nanos() + max.toNanos();
        Duration pause = POLL_FIRST;
        CompletableFuture<Void> ended = context.waiters().join(id);
        try {
            while (true) {
                boolean woken = ended.isDone();
                Optional<Outcome<byte[]>> now = find(id).map(entry -> Acceptance.answer(key, fingerprint, entry));
                Duration left = Duration.ofNanos(until - time.nanos());
                if (now.isEmpty() || !(now.get() instanceof Outcome.InFlight) || left.isNegative() || left.isZero()) {
                    return now;
                }
                CompletableFuture<Void> signal = woken ? new CompletableFuture<>() : ended;
                time.await(signal, pause.compareTo(left) < 0 ? pause : left);
                pause = pause.multipliedBy(2).compareTo(POLL_LONGEST) < 0 ? pause.multipliedBy(2) : POLL_LONGEST;
            }
        } finally {
            context.waiters().leave(id, ended);
        }
    }

    private Optional<Entry> find(EntryId id) {
        return Optional.ofNullable(context.connections()
                        .read(c -> context.database().find(c, List.of(id)))
                        .get(id))
                .map(context.sealing()::shown);
    }
}
