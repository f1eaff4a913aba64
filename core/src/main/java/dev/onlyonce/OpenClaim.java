package dev.onlyonce;

import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreOutcomeUnknown;

/**
 * A claim whose holder settles it itself, exactly once: for callers that cannot put their work into an {@link Action},
 * such as proxies and asynchronous handlers. Until it is settled, heartbeats keep its lease. A holder that never settles
 * keeps the key for as long as the process lives.
 *
 * <p>Each settling method returns when the record is durable, or answers {@link SettleResult.Lost} when the claim was lost
 * and nothing was recorded. When the store cannot be reached it throws {@link StoreOutcomeUnknown} after a bounded time;
 * recording goes on in the background while the lease holds, and no answer may be sent as if it were recorded.
 */
public interface OpenClaim extends Claim {
    /** Records the result; every retry is answered with it. */
    SettleResult complete(byte[] result);

    /** Records that it completed with a result too large to store: it never runs again. */
    SettleResult completeWithoutResult();

    /** Records a final failure; every retry is answered with it. */
    SettleResult fail(Failure failure);

    /** Proven: no effect happened. The next request executes again. */
    SettleResult retryable(String proof);

    /** Nobody knows what happened. */
    SettleResult unknown(String reason);
}
