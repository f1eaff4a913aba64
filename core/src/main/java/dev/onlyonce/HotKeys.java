package dev.onlyonce;

import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The keys that this node is claiming or executing: however many duplicates of one arrive, the store is asked once.
 *
 * <ol>
 *   <li>A duplicate of a claim that this node holds finds it here, running.
 *   <li>One that arrives while this node asks the store for the same key gets the answer to that question: the claim that was won, or the
 *       entry that exists.
 *   <li>If the question fails or takes long, each asks for itself.
 * </ol>
 *
 * <p>Nobody executes because of what stands here. Bounded by the callers that ask. Safe for any number of threads.
 */
final class HotKeys {
    /** A store that takes longer is asked again: whoever waits has a bound of its own, and needs time for it. */
    private static final long WAIT_MAX_MILLIS = 2_000;

    private final Claims claims;
    private final Parts parts;
    private final Map<EntryId, Question> questions = new ConcurrentHashMap<>();

    HotKeys(Claims claims, Parts parts) {
        this.claims = claims;
        this.parts = parts;
    }

    /**
     * A question that is under way.
     *
     * @param sinceNanos when it was asked: what it reads is no newer
     * @param answer the entry; empty if each must ask for itself
     */
    record Question(UUID token, long sinceNanos, CompletableFuture<Optional<Entry>> answer) {
        /** Waits for the answer to somebody else's question; an interrupt ends the wait and is kept. */
        Optional<Entry> await() {
            try {
                return answer.copy()
                        .completeOnTimeout(Optional.empty(), WAIT_MAX_MILLIS, TimeUnit.MILLISECONDS)
                        .get();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** The question that is under way for a key, or a new one with this token, which must be {@linkplain #answer answered}. */
    Question ask(EntryId id, UUID token) {
        return questions.computeIfAbsent(id, key -> new Question(token, parts.nanos(), new CompletableFuture<>()));
    }

    /** Answers the question that was asked with an attempt's token; nothing, if it was answered before. */
    void answer(ClaimAttempt attempt, Optional<Entry> entry) {
        EntryId id = attempt.key().entryId();
        Question question = questions.get(id);
        if (question != null && question.token().equals(attempt.token()) && questions.remove(id, question)) {
            question.answer().complete(entry);
        }
    }

    /** A claim that this node holds, until its settlement is durable. */
    Optional<Entry> running(EntryId id) {
        LiveClaim claim = claims.get(id);
        return claim != null && claim.isHeld() ? Optional.of(entry(claim)) : Optional.empty();
    }

    /** As the store has it, but for its times. */
    Entry entry(LiveClaim claim) {
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
