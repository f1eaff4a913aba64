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

/** Settles the claim of one exchange and returns the answer that may be sent then; {@link Exchange} explains each method. */
final class Recorder {
    /** Recording goes on in the background; a store that recovers is noticed within a second. */
    private static final Duration RETRY_AFTER_NOT_RECORDED = Duration.ofSeconds(2);
    /** Reconciling can take any time. */
    private static final Duration RETRY_AFTER_UNKNOWN = Duration.ofSeconds(10);
    /** The retry finds out: soon, but not at once. */
    private static final Duration RETRY_AFTER_REPEATABLE = Duration.ofSeconds(1);

    private static final int GATEWAY_TIMEOUT = 504;
    private static final String TOO_LATE = "the asynchronous handler did not answer in time";
    private static final Logger log = LoggerFactory.getLogger(Recorder.class);

    private final OpenClaim claim;
    private final Answers answers;
    private final Endings endings;
    private final Runnable onEnd;

    /** With what to do when the claim is settled, or cannot be. */
    Recorder(OpenClaim claim, Answers answers, Endings endings, Runnable onEnd) {
        this.claim = claim;
        this.answers = answers;
        this.endings = endings;
        this.onEnd = onEnd;
    }

    OpenClaim claim() {
        return claim;
    }

    HttpAnswer finish(HttpAnswer own) {
        return orUnknown(() -> settle(ending(own), own)).answer();
    }

    CompletionStage<HttpAnswer> finish(HttpAnswer own, EventLoop on) {
        return orUnknown(() -> settle(ending(own), own, on)).thenApply(Sent::answer);
    }

    private Ending ending(HttpAnswer own) {
        int bytesMax = answers.operation().policy().resultBytesMax();
        return endings.ofStatus(claim.key(), own.status(), () -> StoredResponse.encode(own, bytesMax));
    }

    Exchange.Large finishLarge(int status, Headers headers) {
        Sent sent = orUnknown(() -> {
            Ending ending = endings.ofStatus(
                    claim.key(),
                    status,
                    () -> StoredResponse.withoutBody(status, headers).encode());
            return settle(ending, HttpAnswer.of(status, headers));
        });
        return new Exchange.Large(sent.answer(), sent.own());
    }

    HttpAnswer finishLate(HttpAnswer late) {
        return endings.isLateAnswerRecorded(late.status()) ? finish(late) : ambiguous(TOO_LATE);
    }

    Exchange.Large finishLargeLate(int status, Headers headers) {
        return endings.isLateAnswerRecorded(status)
                ? finishLarge(status, headers)
                : new Exchange.Large(ambiguous(TOO_LATE), false);
    }

    HttpAnswer notExecuted(String proof) {
        HttpAnswer unreachable = answers.refusal(Problem.UPSTREAM_UNREACHABLE.report());
        return settle(new Ending.Retryable(proof), unreachable).answer();
    }

    HttpAnswer ambiguous(String reason) {
        return settle(new Ending.Unknown(reason), unknown(RETRY_AFTER_UNKNOWN)).answer();
    }

    HttpAnswer repeatable(String reason) {
        return settle(new Ending.Retryable("harmless to repeat: " + reason), unknown(RETRY_AFTER_REPEATABLE))
                .answer();
    }

    private HttpAnswer unknown(Duration retryAfter) {
        Problem.Report report = Problem.OUTCOME_UNKNOWN.report().retryAfter(retryAfter);
        return answers.operation().profile().refuse(report, GATEWAY_TIMEOUT);
    }

    Exchange.Failed failed(Throwable thrown) {
        return orUnknown(() -> {
            HttpAnswer broken = answers.refusal(Problem.HANDLER_FAILED.report());
            Ending ending = endings.ofException(
                    claim.key(), thrown, () -> StoredResponse.of(broken).encode());
            if (ending instanceof Ending.Failed known) {
                HttpAnswer failure = answers.failure(known.failure());
                return new Exchange.Failed(settle(ending, failure).answer(), false);
            }
            Sent sent = settle(ending, broken);
            return new Exchange.Failed(sent.answer(), sent.own());
        });
    }

    /**
     * The result of recording.
     *
     * @param answer what to send
     * @param own whether that is the answer that was to be recorded, or one that replaces it
     */
    private record Sent(HttpAnswer answer, boolean own) {}

    private Sent settle(Ending ending, HttpAnswer own) {
        return settled(ending, own, () -> claim.settle(ending));
    }

    /** Without blocking; completed on the loop, or at once. */
    private CompletionStage<Sent> settle(Ending ending, HttpAnswer own, EventLoop on) {
        return claim.settle(ending, on.blocking())
                .handleAsync(
                        (result, failure) -> settled(ending, own, () -> EventLoop.get(result, failure)), on.loop());
    }

    private Sent settled(Ending ending, HttpAnswer own, Supplier<SettleResult> settling) {
        try {
            if (settling.get() instanceof SettleResult.Settled settled) {
                if (ending instanceof Ending.Retryable freed) {
                    log.info("{} is free again: {}. The next retry runs.", claim.key(), freed.proof());
                }
                boolean kept = ending instanceof Ending.Completed || ending instanceof Ending.Failed;
                Instant expiresAt = kept ? settled.expiresAt() : null;
                return new Sent(answers.own(own, expiresAt), true);
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

    /** Runs code that settles. If anything breaks, the outcome is unknown: no claim stays behind that nobody settles. */
    private <T> T orUnknown(Supplier<T> settling) {
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
