package dev.onlyonce;

import dev.onlyonce.store.Failure;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * A claim whose holder settles it itself, exactly once: for callers that cannot put their work into an {@link Action},
 * such as proxies and asynchronous handlers. Until it is settled, heartbeats keep its lease, for at most
 * {@link Policy#heldMax()}: then the lease lapses, and the entry becomes what its policy says.
 *
 * <p>Each settling method returns when the record is durable, or answers {@link SettleResult.Lost} when the claim was lost
 * and nothing was recorded. When the store cannot be reached it throws {@link StoreOutcomeUnknown} after a bounded time;
 * recording goes on in the background until the store takes it or says that the claim is lost, and no answer may be sent as
 * if it were recorded.
 */
public interface OpenClaim extends Claim {
    /**
     * The token that fences every write of this claim: no other claim has it. For code that keeps records of its own beside
     * the entry.
     */
    UUID token();

    /** Records how it ended. */
    SettleResult settle(Ending ending);

    /**
     * Records how it ended, without blocking. The stage is completed when the method above would return or throw.
     * Dependent stages run on a thread that others wait for, or on this one: they must be quick and must not block.
     *
     * @param blocking runs code that blocks: waiting for a store that did not take the record at once
     */
    CompletionStage<SettleResult> settle(Ending ending, Executor blocking);

    /** Records the result; every retry is answered with it. */
    default SettleResult complete(byte[] result) {
        return settle(new Ending.Completed(result));
    }

    /** Records that it completed with a result too large to store: it never runs again. */
    default SettleResult completeWithoutResult() {
        return settle(new Ending.CompletedWithoutResult());
    }

    /** Records a final failure; every retry is answered with it. */
    default SettleResult fail(Failure failure) {
        return settle(new Ending.Failed(failure));
    }

    /** Proven: no effect happened. The next request executes again. */
    default SettleResult retryable(String proof) {
        return settle(new Ending.Retryable(proof));
    }

    /** Nobody knows what happened. */
    default SettleResult unknown(String reason) {
        return settle(new Ending.Unknown(reason));
    }
}
