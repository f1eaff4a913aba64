package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Cas.Outcome;
import dev.onlyonce.cassandra.Cas.Proven;
import dev.onlyonce.cassandra.Items.Result;
import dev.onlyonce.cassandra.Step.Attempt;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Changes one entry that others may be changing too.
 *
 * <ol>
 *   <li>Locks the entry among the callers of this node.
 *   <li>Reads the entry and applies the rule. If that needs no change, it has the answer.
 *   <li>Otherwise writes the index rows, then sends the transaction, conditional on the entry as it was read.
 *   <li>Refused: somebody else was first. Starts again with what is there now.
 *   <li>No answer, which is the normal case among contenders: reads the entry and the change's audit record at SERIAL consistency, which
 *       also completes what was left half done. If the record is there, the change took place. If not, it did not, and it starts again.
 * </ol>
 *
 * <p>Pauses between the tries are random and become longer. When the call has taken {@code patience} it gives up: busy, or unknown if a
 * change is still in doubt.
 */
record ContendedChange(
        Cas cas, Indexes indexes, OpenClaims claims, LocalLocks locks, Supplier<Moment> clock, Duration patience) {
    /** Well below the time after which a sweep deletes the row of a claim that never came. */
    private static final Duration SOON = Duration.ofMinutes(2);

    private static final Duration PAUSE_MIN = Duration.ofMillis(5);
    private static final Duration PAUSE_MAX = Duration.ofMillis(200);

    Moment moment() {
        return clock.get();
    }

    /**
     * Writes the index rows of changes. The changes must follow soon: a sweep deletes the row of a claim that never came, so a node that
     * was stopped in between gives up.
     *
     * @throws StoreException if nothing may be changed
     */
    void prepare(List<IndexRow> rows, Moment moment) {
        if (!rows.isEmpty()) {
            indexes.add(rows, moment.now());
        }
        if (System.nanoTime() - moment.nanos() > SOON.toNanos()) {
            throw new StoreUnavailable("Writing index rows took longer than " + SOON, null);
        }
    }

    /**
     * What was sent before, without looking.
     *
     * @param guess null for nothing
     * @param outcome null for none
     */
    record Sent<A>(@Nullable Attempt<A> guess, @Nullable Outcome outcome) {}

    /** What is known so far. */
    private static final class Tries<A> {
        /** Changes that may have taken place. */
        final List<Attempt<A>> doubts = new ArrayList<>();
        /** What is known of the entry without reading it. */
        Optional<StoredEntry> seen = Optional.empty();

        @Nullable
        StoreException last;

        int number;
    }

    /**
     * Applies the rule to an item until it has an answer.
     *
     * @param sent what was sent already
     * @param since when the call began, by this JVM's nano clock: all its items have the same time
     */
    <Q, A> Result<A> run(EntryRule<Q, A> rule, Q item, Sent<A> sent, long since) {
        Tries<A> tries = new Tries<>();
        if (sent.guess() != null && sent.outcome() != null) {
            Optional<A> unexpected = note(tries, sent.guess(), sent.outcome());
            if (unexpected.isPresent()) {
                return Result.of(unexpected.get());
            }
        }
        EntryId id = rule.id(item);
        long giveUp = since + patience.toNanos();
        Duration left = Duration.ofNanos(Math.max(0, giveUp - System.nanoTime()));
        boolean isTooLate = left.isZero() && tries.seen.isEmpty();
        if (isTooLate || !locks.take(id, left)) {
            return given(tries, id);
        }
        try {
            while (true) {
                Optional<A> answer = tryOnce(rule, item, tries);
                if (answer.isPresent()) {
                    return Result.of(answer.get());
                }
                tries.number++;
                if (System.nanoTime() - giveUp > 0 || Thread.currentThread().isInterrupted()) {
                    return given(tries, id);
                }
                pause(tries.number);
            }
        } catch (StoreException e) {
            tries.last = e;
            return tries.doubts.isEmpty() ? Result.failed(e) : given(tries, id);
        } finally {
            locks.release(id);
        }
    }

    private <Q, A> Optional<A> tryOnce(EntryRule<Q, A> rule, Q item, Tries<A> tries) {
        EntryId id = rule.id(item);
        StoredEntry entry;
        if (!tries.doubts.isEmpty()) {
            Proven proven;
            try {
                proven = cas.readAfterAll(id, proofs(tries.doubts));
            } catch (StoreException e) {
                tries.last = e;
                return Optional.empty();
            }
            for (Attempt<A> doubt : tries.doubts) {
                if (isProven(doubt, proven)) {
                    applied(doubt.change());
                    return Optional.of(doubt.answer());
                }
            }
            entry = proven.entry();
        } else {
            entry = tries.seen.isPresent() ? tries.seen.get() : cas.read(id);
            if (entry == null && rule.isLastLook(item, clock.get())) {
                entry = cas.readAfterAll(id, List.of()).entry();
            }
        }
        tries.seen = Optional.empty();
        Moment moment = clock.get();
        Step<A> step = rule.decide(item, entry, moment);
        if (step instanceof Step.Answer<A> known) {
            return Optional.of(known.answer());
        }
        Attempt<A> attempt = (Attempt<A>) step;
        prepare(attempt.change().index().before(), moment);
        return note(tries, attempt, cas.send(attempt.change()).join());
    }

    /** The answer if the change took place. */
    private <A> Optional<A> note(Tries<A> tries, Attempt<A> attempt, Outcome outcome) {
        if (outcome instanceof Outcome.Applied) {
            applied(attempt.change());
            return Optional.of(attempt.answer());
        }
        if (outcome instanceof Outcome.Refused refused) {
            indexes.drop(attempt.change().index().before());
            tries.seen = Optional.ofNullable(refused.entry());
        } else {
            StoreException failure = ((Outcome.Failed) outcome).failure();
            tries.last = failure;
            if (!(failure instanceof StoreOutcomeUnknown)) {
                throw failure;
            }
            tries.doubts.add(attempt);
        }
        return Optional.empty();
    }

    private void applied(Change change) {
        claims.changed(change);
        indexes.drop(change.index().after());
    }

    private static <A> List<UUID> proofs(List<Attempt<A>> doubts) {
        List<UUID> proofs = new ArrayList<>();
        for (Attempt<A> doubt : doubts) {
            UUID proof = doubt.proof();
            if (proof != null) {
                proofs.add(proof);
            }
        }
        return proofs;
    }

    private static <A> boolean isProven(Attempt<A> doubt, Proven proven) {
        UUID proof = doubt.proof();
        StoredEntry wanted = doubt.change().entry();
        StoredEntry entry = proven.entry();
        return (proof != null && proven.proofs().contains(proof))
                || (wanted != null
                        && entry != null
                        && wanted.standing().change().equals(entry.standing().change()));
    }

    private <A> Result<A> given(Tries<A> tries, EntryId id) {
        String why = tries.last == null ? "others keep changing it" : String.valueOf(tries.last.getMessage());
        return Result.failed(
                tries.doubts.isEmpty()
                        ? new StoreBusy("The entry " + id + " is busy: " + why, tries.last)
                        : new StoreOutcomeUnknown("A change of " + id + " is in doubt: " + why, tries.last));
    }

    private static void pause(int tries) {
        long max = Math.min(PAUSE_MAX.toNanos(), PAUSE_MIN.toNanos() << Math.min(tries, 6));
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(max) + 1);
    }
}
