package dev.onlyonce;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The keys that this node is claiming or executing: however many duplicates of one arrive, the store is asked once.
 *
 * <ol>
 *   <li>The first caller of a key leaves a question here. It stays until the claim that it won has ended, or its answer is no claim.
 *   <li>A duplicate of a claim that this node holds finds it in the question, running.
 *   <li>One that arrives while this node asks the store for the same key gets the answer to that question: the claim that was won, or the
 *       entry that exists.
 *   <li>A request that is not the one that runs asks the store, by a question of its own: one for all that do so at the same time.
 *   <li>If the question fails or takes long, each asks for itself.
 * </ol>
 *
 * <p>A fresh key that nobody repeats costs one question, put here and taken away. Nobody executes because of what stands here. Bounded by the
 * callers that ask and the claims that they hold. Safe for any number of threads.
 */
final class HotKeys {
    /** A store that takes longer is asked again: whoever waits has a bound of its own, and needs time for it. */
    private static final long WAIT_MAX_MILLIS = 2_000;

    private final Parts parts;
    private final Map<EntryId, Question> questions = new ConcurrentHashMap<>();
    /** By requests that are not the one that runs. */
    private final Map<EntryId, Question> byOthers = new ConcurrentHashMap<>();

    HotKeys(Parts parts) {
        this.parts = parts;
    }

    /** What this node asks about a key, and the claim that came of it. */
    final class Question {
        private final EntryId id;
        private final UUID token;
        private final boolean isOthers;
        private final long sinceNanos = parts.nanos();
        private volatile @Nullable LiveClaim won;
        private volatile boolean ended;
        private Optional<Entry> found = Optional.empty(); // guarded by this
        /** For duplicates: made when the first one comes. */
        private @Nullable CompletableFuture<Optional<Entry>> answer; // guarded by this

        private Question(EntryId id, UUID token, boolean isOthers) {
            this.id = id;
            this.token = token;
            this.isOthers = isOthers;
        }

        /** Whether it was asked with this token. */
        boolean isBy(UUID other) {
            return token.equals(other);
        }

        /** What is read for a request that comes now is no older; nor is it newer than the question under way. */
        long sinceNanos() {
            return won == null ? sinceNanos : parts.nanos();
        }

        /** The claim that this node holds, until its settlement is durable. */
        Optional<Entry> running() {
            LiveClaim claim = won;
            return claim != null && claim.isHeld() ? Optional.of(entry(claim)) : Optional.empty();
        }

        /** The entry, for a duplicate; empty if each must ask for itself. */
        private synchronized CompletableFuture<Optional<Entry>> answer() {
            if (answer == null) {
                answer = ended ? CompletableFuture.completedFuture(result()) : new CompletableFuture<Optional<Entry>>();
            }
            return answer;
        }

        private Optional<Entry> result() {
            LiveClaim claim = won;
            return claim == null ? found : Optional.of(entry(claim));
        }

        private void end(Optional<Entry> entry) {
            CompletableFuture<Optional<Entry>> waiting;
            synchronized (this) {
                if (ended) {
                    return;
                }
                ended = true;
                found = entry;
                waiting = answer;
            }
            if (waiting != null) {
                waiting.complete(result());
            }
        }

        /** Waits for the answer to somebody else's question; an interrupt ends the wait and is kept. */
        Optional<Entry> await() {
            try {
                return answer().copy()
                        .completeOnTimeout(Optional.empty(), WAIT_MAX_MILLIS, TimeUnit.MILLISECONDS)
                        .get();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }

        /** The same without blocking. */
        CompletableFuture<Optional<Entry>> awaitAsync() {
            CompletableFuture<Optional<Entry>> mine = answer().copy();
            if (!mine.isDone()) {
                Time.Scheduled late =
                        parts.schedule(Duration.ofMillis(WAIT_MAX_MILLIS), () -> mine.complete(Optional.empty()));
                var unused = mine.whenComplete((entry, failure) -> late.cancel());
            }
            return mine;
        }

        /** The store has answered: no claim was won. Without an entry, each asks for itself. Nothing, if it was answered before. */
        void answered(Optional<Entry> entry) {
            if (!ended) {
                (isOthers ? byOthers : questions).remove(id, this);
                end(entry);
            }
        }

        private void won(LiveClaim claim) {
            won = claim;
            if (isOthers) {
                questions.put(id, this);
                byOthers.remove(id, this);
            }
            end(Optional.empty());
        }
    }

    /** The question that is under way for a key, or a new one with this token, which must be answered. */
    Question ask(EntryId id, UUID token) {
        Question mine = new Question(id, token, false);
        while (true) {
            Question there = questions.putIfAbsent(id, mine);
            if (there == null) {
                return mine;
            }
            LiveClaim claim = there.won;
            if (claim == null || claim.isHeld()) {
                return there;
            }
            // It was lost, and its action may still run.
            questions.remove(id, there);
        }
    }

    /** The same for a request that is not the one that runs. */
    Question askAsOther(EntryId id, UUID token) {
        return byOthers.computeIfAbsent(id, key -> new Question(key, token, true));
    }

    /** A claim was won, and can be waited for: by the attempt that asked this, or by one that did not wait for the answer. */
    void won(Question question, LiveClaim claim) {
        Question own = question.isBy(claim.token()) ? question : new Question(claim.id(), claim.token(), true);
        own.won(claim);
    }

    /** A claim was settled, or nobody is going to. */
    void ended(LiveClaim claim) {
        questions.computeIfPresent(claim.id(), (id, question) -> question.won == claim ? null : question);
    }

    /** As the store has it, but for its times. */
    private Entry entry(LiveClaim claim) {
        Instant now = parts.time().now();
        Duration lease = claim.policy().terms().lease();
        return new Entry(
                claim.id(),
                claim.key().operation(),
                claim.origin().fingerprint(),
                State.PROCESSING,
                claim.token(),
                parts.name(),
                claim.attempt(),
                claim.policy().terms(),
                now,
                now.plus(lease),
                null,
                null,
                null,
                now);
    }
}
