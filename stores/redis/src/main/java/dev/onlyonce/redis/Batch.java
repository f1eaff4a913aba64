package dev.onlyonce.redis;

import dev.onlyonce.redis.Swaps.Found;
import dev.onlyonce.redis.Swaps.Item;
import dev.onlyonce.redis.Swaps.Mode;
import dev.onlyonce.redis.Verb.Known;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Decision;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does something to a list of entries.
 *
 * <ol>
 *   <li>What a node knows of an entry is decided by {@link dev.onlyonce.store.Life}: that a key is new, that its own claim is as it made it, or what it has read.
 *   <li>The changes go to the script. It makes those whose entry is as expected, and answers what is stored of the others.
 *   <li>Those are decided again by that. Each round that an item needs means that somebody else has changed its entry.
 *   <li>An item that fails costs the others nothing: if it was not changed, it is answered as unavailable, a settlement as busy.
 * </ol>
 */
final class Batch {
    private static final Logger log = LoggerFactory.getLogger(Batch.class);
    private static final Duration WARN_EVERY = Duration.ofSeconds(10);
    /** Nobody loses so often by chance. */
    private static final int ROUNDS_MAX = 100;

    private final Link link;
    private final Swaps swaps;
    private final Changes changes;
    private final Replicas replicas;
    private final AtomicLong warnedNanos = new AtomicLong();

    Batch(Link link, Swaps swaps, Replicas replicas, AuditLevel level) {
        this.link = link;
        this.swaps = swaps;
        this.changes = new Changes(level);
        this.replicas = replicas;
    }

    /** A request on its way. */
    private final class Turn<Q, A> {
        private final Verb<Q, A> verb;
        private final Q request;
        private final Item item;
        /** Null until it is read. */
        private @Nullable Known known;

        private boolean isRead;
        private boolean isLarge;
        /** The change that is under way. */
        private Changes.@Nullable Planned planned;

        private @Nullable A answer;
        /** Whether it rests on a change that was made now, not on a read. */
        private boolean isWritten;

        private @Nullable Swap repair;

        Turn(Verb<Q, A> verb, Q request) {
            this.verb = verb;
            this.request = request;
            this.item = swaps.item(verb.id(request));
            this.known = verb.guess(request).orElse(null);
        }

        /** Decides what is sent next; false if nothing is: it is answered, or has failed. */
        boolean isSent() {
            try {
                Swap next = next();
                if (next != null) {
                    item.set(next);
                }
                return next != null;
            } catch (StoreException e) {
                item.fail(e);
            } catch (RuntimeException e) {
                // Times that are damaged cannot be counted on.
                item.fail(new StoreUnavailable("The entry " + item.id() + StoredEntry.UNREADABLE + ": " + e, e));
            }
            return false;
        }

        private @Nullable Swap next() {
            planned = null;
            if (known == null) {
                return Swap.READ;
            }
            Decision<A> decision = verb.decide(known.stored(), request, StoreTime.at(known.at()));
            answer = isLarge ? verb.withoutResult(decision.answer()) : decision.answer();
            if (decision instanceof Decision.Change<A> change) {
                planned = changes.plan(known.entry(), change, known.at());
                return planned.swap();
            }
            if (!isRead) {
                return Swap.READ;
            }
            repair = verb.repair(request, known).orElse(null);
            return null;
        }

        /** Takes what the script has found; false if it is answered, or has failed. */
        boolean isDecidedAgain() {
            if (item.failure().isPresent()) {
                return false;
            }
            Found found = item.found();
            if (planned != null && known != null && found.isDone()) {
                if (planned.swap().shape().stamp() != Swap.Stamp.NONE) {
                    Duration later = Duration.between(known.at(), found.at());
                    answer = verb.later(Objects.requireNonNull(answer), later);
                }
                isWritten = true;
                verb.changed(request, planned.claimAt(found.at()));
                return false;
            }
            if (found.isLate()) {
                // What is not read yet is still to be read: nobody has looked at it.
                known = known == null ? null : new Known(known.entry(), found.at());
                return true;
            }
            try {
                byte[] raw = found.raw();
                known = new Known(raw == null ? null : StoredEntry.of(item.id(), raw, found.at()), found.at());
                isRead = true;
                isLarge = found.isLarge();
                return true;
            } catch (StoreException e) {
                item.fail(e);
                return false;
            }
        }
    }

    /**
     * Writes; answers in the order of the items.
     *
     * @throws IllegalArgumentException if an id is there twice: both would be compared with what was stored before
     */
    <Q, A> List<A> write(Verb<Q, A> verb, List<Q> requests) {
        Set<EntryId> ids = new HashSet<>();
        if (!requests.stream().map(verb::id).allMatch(ids::add)) {
            throw new IllegalArgumentException("an id is twice in one list: send the second one with the next list");
        }
        List<Turn<Q, A>> all =
                requests.stream().map(request -> new Turn<>(verb, request)).toList();
        List<Item> items = all.stream().map(turn -> turn.item).toList();
        int generation = link.generation();
        fail(items, replicas.refused(partitions(items)));
        run(all.stream().filter(turn -> turn.item.failure().isEmpty()).toList(), verb.mode());
        boolean isAllWritten = all.stream()
                .allMatch(turn -> turn.isWritten || turn.item.failure().isPresent());
        fail(items, replicas.await(partitions(items), generation, isAllWritten));
        List<StoreException> failures = failures(items);
        checkWritten(failures, items.size());
        warn(failures, items.size());
        List<A> answers = new ArrayList<>(all.size());
        for (Turn<Q, A> turn : all) {
            StoreException failure = turn.item.failure().orElse(null);
            answers.add(
                    failure == null
                            ? Objects.requireNonNull(turn.answer)
                            : refused(verb, failure, failures.size() < all.size()));
        }
        return answers;
    }

    private <Q, A> void run(List<Turn<Q, A>> all, Mode mode) {
        List<Turn<Q, A>> open = all;
        for (int round = 0; !open.isEmpty(); round++) {
            List<Turn<Q, A>> sent = open.stream().filter(Turn::isSent).toList();
            if (round == ROUNDS_MAX) {
                sent.forEach(turn -> turn.item.fail(new StoreBusy("others keep changing " + turn.item.id(), null)));
                break;
            }
            try {
                swaps.send(sent.stream().map(turn -> turn.item).toList(), mode);
            } catch (StoreUnavailable e) {
                if (round == 0) {
                    throw e;
                }
                // Others are changed already.
                sent.forEach(turn -> turn.item.fail(e));
            }
            open = sent.stream().filter(Turn::isDecidedAgain).toList();
        }
        repair(all);
    }

    /** What cannot be corrected now is found again. */
    private <Q, A> void repair(List<Turn<Q, A>> all) {
        List<Item> repaired = new ArrayList<>();
        for (Turn<Q, A> turn : all) {
            if (turn.repair != null) {
                Item item = swaps.item(turn.item.id());
                item.set(turn.repair);
                repaired.add(item);
            }
        }
        if (!repaired.isEmpty()) {
            try {
                swaps.send(repaired, Mode.CHANGE);
            } catch (StoreException e) {
                log.debug("Indexes were not corrected", e);
            }
        }
    }

    private <Q, A> A refused(Verb<Q, A> verb, StoreException failure, boolean isPartial) {
        return verb.refused(failure).orElseThrow(() -> {
            if (isPartial) {
                return new StoreOutcomeUnknown("Some items may have been changed. " + failure.getMessage(), failure);
            }
            // Not unavailable: a reconciler goes on with other entries.
            return Reply.isOfItem(failure) ? new StoreRejected(String.valueOf(failure.getMessage()), failure) : failure;
        });
    }

    private void checkWritten(List<StoreException> failures, int all) {
        if (failures.stream().anyMatch(Reply::isFromReplica)) {
            link.findMaster();
        }
        for (StoreException failure : failures) {
            if (failure instanceof StoreOutcomeUnknown) {
                throw failure;
            }
        }
        for (StoreException failure : failures) {
            if (failures.size() == all && isOfServer(failure)) {
                throw failure;
            }
        }
    }

    /** Whether it concerns all items there are: then the whole call fails, and the engine leaves the server alone for a moment. */
    private boolean isOfServer(StoreException failure) {
        return !link.isCluster() && !Reply.isOfItem(failure);
    }

    /** Says now and then why items are refused: not all callers learn it. */
    private void warn(List<StoreException> failures, int all) {
        long last = warnedNanos.get();
        long now = System.nanoTime();
        if (!failures.isEmpty()
                && (last == 0 || now - last > WARN_EVERY.toNanos())
                && warnedNanos.compareAndSet(last, now)) {
            log.warn(
                    "Redis has taken {} of {} items; the others may be tried again. {}",
                    all - failures.size(),
                    all,
                    failures.get(0).getMessage());
        }
    }

    private static List<StoreException> failures(List<Item> items) {
        return items.stream().map(Item::failure).flatMap(Optional::stream).toList();
    }

    static List<Integer> partitions(List<Item> items) {
        return items.stream()
                .filter(item -> item.failure().isEmpty())
                .map(Item::partition)
                .distinct()
                .toList();
    }

    static void fail(List<Item> items, Map<Integer, StoreException> failures) {
        for (Item item : items) {
            StoreException failure = failures.get(item.partition());
            if (failure != null && item.failure().isEmpty()) {
                item.fail(failure);
            }
        }
    }
}
