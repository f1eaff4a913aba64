package dev.onlyonce.http;

import dev.onlyonce.Ending;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles the claim of one exchange, and says which answer may be sent then. */
final class Recorder {
    /** Recording goes on in the background; a store that recovers is noticed within a second. */
    private static final Duration RETRY_AFTER_NOT_RECORDED = Duration.ofSeconds(2);
    /** Reconciling can take any time. */
    static final Duration RETRY_AFTER_UNKNOWN = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(Recorder.class);

    private final OpenClaim claim;
    private final Answers answers;
    private final Runnable onEnd;

    /** With what to do when the claim is settled, or cannot be. */
    Recorder(OpenClaim claim, Answers answers, Runnable onEnd) {
        this.claim = claim;
        this.answers = answers;
        this.onEnd = onEnd;
    }

    OpenClaim claim() {
        return claim;
    }

    /**
     * The result of recording.
     *
     * @param answer what to send
     * @param own whether that is the answer that was to be recorded, or one that replaces it
     */
    record Sent(HttpAnswer answer, boolean own) {}

    Sent settle(Ending ending, HttpAnswer own) {
        return settled(ending, own, () -> claim.settle(ending));
    }

    /** Without blocking; completed on the loop, or at once. */
    CompletionStage<Sent> settle(Ending ending, HttpAnswer own, EventLoop on) {
        return claim.settle(ending, on.blocking())
                .handleAsync(
                        (result, failure) -> settled(ending, own, () -> EventLoop.get(result, failure)), on.loop());
    }

    private Sent settled(Ending ending, HttpAnswer own, Supplier<SettleResult> settling) {
        try {
            if (settling.get() instanceof SettleResult.Settled settled) {
                boolean kept = ending instanceof Ending.Completed || ending instanceof Ending.Failed;
                Instant expiresAt = kept ? settled.expiresAt() : null;
                return new Sent(expiresAt == null ? own : Answers.expiring(own, expiresAt), true);
            }
            log.warn("{} was executed, but lost its claim before that was recorded", claim.key());
            return instead(Problem.OUTCOME_UNKNOWN, RETRY_AFTER_UNKNOWN);
        } catch (StoreException e) {
            log.warn("The outcome of {} could not be recorded in time: {}", claim.key(), e.getMessage());
            return instead(Problem.NOT_RECORDED, RETRY_AFTER_NOT_RECORDED);
        } finally {
            onEnd.run();
        }
    }

    private Sent instead(Problem problem, Duration retryAfter) {
        return new Sent(answers.refusal(problem.report().retryAfter(retryAfter)), false);
    }

    /** Runs code that settles. If anything breaks on the way, the outcome is unknown: no claim stays behind that nobody settles. */
    <T> T orUnknown(Supplier<T> settling) {
        try {
            return settling.get();
        } catch (RuntimeException | Error broken) {
            try {
                claim.unknown("its outcome could not be recorded: "
                        + broken.getClass().getName());
            } catch (RuntimeException settledAlready) {
                broken.addSuppressed(settledAlready);
            } finally {
                onEnd.run();
            }
            throw broken;
        }
    }
}
