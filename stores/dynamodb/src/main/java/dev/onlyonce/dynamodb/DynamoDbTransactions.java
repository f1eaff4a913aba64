package dev.onlyonce.dynamodb;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Registry;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * The transactional way to execute on DynamoDB: the action's writes and its record are one {@code TransactWriteItems}, so the effect
 * happens exactly once.
 *
 * <ol>
 *   <li>It claims the key, which costs one request.
 *   <li>It runs the action, which adds its writes and has no effect of its own.
 *   <li>It sends the writes together with the settlement, on condition that the claim still holds.
 *   <li>If it does not learn whether that was executed, it releases the claim. The release and the transaction exclude each other: if the
 *       claim could be released, the transaction was not and will never be executed; if not, it was.
 * </ol>
 *
 * <p>So a lapsed lease is proof that nothing happened, whatever the operation's policy says about it: the next request runs. Any number of
 * threads.
 */
public final class DynamoDbTransactions {
    private static final String COMPLETED = "completed in a transaction";

    private final Registry registry;
    private final DynamoDbStore store;

    private DynamoDbTransactions(Registry registry, DynamoDbStore store) {
        this.registry = registry;
        this.store = store;
    }

    /**
     * With the operations, listeners and name of an {@link Onlyonce}.
     *
     * @throws IllegalArgumentException if it is not built on a {@link DynamoDbStore}
     */
    public static DynamoDbTransactions of(Onlyonce once) {
        Store store = once.registry().store();
        if (store instanceof DynamoDbStore dynamo) {
            return new DynamoDbTransactions(once.registry(), dynamo);
        }
        throw new IllegalArgumentException(
                "DynamoDbTransactions needs a DynamoDbStore, but this Onlyonce is built on a "
                        + store.getClass().getSimpleName());
    }

    /**
     * Executes in one transaction. The result is stored as JSON.
     *
     * @throws X what the action throws; nothing has happened
     * @throws TransactionCanceledException if a condition of the action's own writes did not hold, or one of them was invalid; nothing
     *     has happened, and the next request runs again
     * @throws StoreException if DynamoDB cannot answer; nothing has happened, unless it is
     *     {@link StoreOutcomeUnknown}, when calling again tells
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Class<T> result, WritingAction<T, X> action) throws X {
        return execute(key, fingerprint, Codec.json(result), action);
    }

    /**
     * Executes in one transaction.
     *
     * @throws X what the action throws; nothing has happened
     * @throws TransactionCanceledException if a condition of the action's own writes did not hold, or one of them was invalid; nothing
     *     has happened, and the next request runs again
     * @throws StoreException if DynamoDB cannot answer; nothing has happened, unless it is
     *     {@link StoreOutcomeUnknown}, when calling again tells
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Codec<T> codec, WritingAction<T, X> action) throws X {
        Policy policy = registry.policy(key.operation(), Way.TRANSACTIONAL).toBuilder()
                .onLeaseLost(OnLeaseLost.RETRY)
                .build();
        Begun begun = registry.begin(key, fingerprint, policy);
        if (begun instanceof Begun.Answered answered) {
            return answered.outcome().map(codec::decode);
        }
        OpenClaim claim = ((Begun.Claimed) begun).claim();
        Writes writes = new Writes();
        T value;
        byte[] result;
        try {
            value = action.run(claim, writes);
            result = codec.encode(value);
        } catch (Throwable e) {
            release(claim, "the action threw before it wrote anything: " + e, e);
            throw e;
        }
        return new Outcome.Executed<>(value, commit(claim, policy, result, writes));
    }

    /** Returns when retention is over. */
    private Instant commit(OpenClaim claim, Policy policy, byte[] result, Writes writes) {
        byte[] envelope = result.length <= policy.resultBytesMax()
                ? Envelope.value(result)
                : Envelope.failure(new Failure(
                        Failure.RESULT_NOT_STORED,
                        "It completed, but its result was larger than " + policy.resultBytesMax()
                                + " bytes and was not stored"));
        Settlement settlement =
                new Settlement(claim.key().entryId(), claim.token(), State.COMPLETED, envelope, COMPLETED);
        Instant settled;
        try {
            settled = store.commit(settlement, writes.items());
        } catch (RuntimeException e) {
            if (release(claim, "its transaction was not executed: " + e.getMessage(), e)) {
                throw e instanceof StoreOutcomeUnknown
                        ? new StoreUnavailable("The transaction was not executed. " + e.getMessage(), e)
                        : e;
            }
            return recorded(claim, e).orElseThrow(() -> e);
        }
        try {
            // Finds that it is recorded; ends the heartbeat and informs the cache and the listeners.
            var unused = claim.complete(result);
        } catch (StoreException e) {
            // It is recorded all the same, and the engine tries again by itself.
        }
        return settled.plus(policy.terms().retention());
    }

    /** When the retention of this claim's result is over, if it was recorded. What cannot be read leaves the doubt as it is. */
    private Optional<Instant> recorded(OpenClaim claim, RuntimeException doubt) {
        try {
            return store.find(List.of(claim.key().entryId()))
                    .get(0)
                    .filter(entry ->
                            entry.state() == State.COMPLETED && claim.token().equals(entry.token()))
                    .map(Entry::expiresAt);
        } catch (StoreException e) {
            doubt.addSuppressed(e);
            return Optional.empty();
        }
    }

    /** Whether the claim was released: then nothing was executed under it, and never will be. */
    private static boolean release(OpenClaim claim, String proof, Throwable cause) {
        try {
            return claim.retryable(proof) instanceof SettleResult.Settled;
        } catch (StoreException e) {
            cause.addSuppressed(e);
            return false;
        }
    }
}
