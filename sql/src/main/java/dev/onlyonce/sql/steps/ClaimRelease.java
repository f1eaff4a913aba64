package dev.onlyonce.sql.steps;

import dev.onlyonce.OpenClaim;
import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases claims of stepped operations that have not come to an end.
 *
 * <ol>
 *   <li>If any step was recorded, the entry is kept past its retention first: what has begun is not forgotten and begun
 *       again.
 *   <li>Then it is settled as retryable, and the next request resumes.
 *   <li>What the database does not take is tried again in the background, one claim after the other, for as long as the
 *       claim is held. After that the sweeper does the same to it.
 * </ol>
 */
final class ClaimRelease {
    private static final Duration AGAIN_AFTER = Duration.ofMillis(200);
    private static final Logger log = LoggerFactory.getLogger(ClaimRelease.class);

    private final StepTable table;
    private final Calls calls;
    private final Time time;
    private final Queue<Waiting> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean scheduled = new AtomicBoolean();

    private record Waiting(OpenClaim claim, String proof) {}

    ClaimRelease(StepTable table, Calls calls, Time time) {
        this.table = table;
        this.calls = calls;
        this.time = time;
    }

    /** Releases a claim; throws if the database does not take that now, and goes on trying. */
    void release(OpenClaim claim, String proof) {
        try {
            keep(claim);
        } catch (StoreException e) {
            waiting.add(new Waiting(claim, proof));
            schedule();
            throw e;
        }
        claim.retryable(proof);
    }

    private void keep(OpenClaim claim) {
        StepTable.Owner owner = new StepTable.Owner(claim.key().entryId(), claim.token());
        calls.transaction(c -> {
            table.keep(c, owner);
            return true;
        });
    }

    private void schedule() {
        if (!waiting.isEmpty() && scheduled.compareAndSet(false, true)) {
            time.schedule(AGAIN_AFTER, this::round);
        }
    }

    /** Stops at the first that the database does not take. */
    private void round() {
        try {
            for (Waiting first = waiting.peek(); first != null; first = waiting.peek()) {
                if (first.claim.isHeld()) {
                    keep(first.claim);
                    waiting.remove(first);
                    first.claim.retryable(first.proof);
                } else {
                    waiting.remove(first);
                }
            }
        } catch (StoreException e) {
            log.debug("A half-done operation is released later: {}", e.getMessage());
        } finally {
            scheduled.set(false);
            schedule();
        }
    }
}
