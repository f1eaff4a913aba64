package dev.onlyonce.http;

import dev.onlyonce.Ending;
import dev.onlyonce.FailureRule;
import dev.onlyonce.FailureRule.Verdict;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.http.Profile.Meaning;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request that is being executed. Exactly one of the ending methods must be called, once, on any thread; each returns when
 * the entry is durable, with the answer that may be sent then. It may differ from the handler's: if the store did not take
 * the record, or the claim was lost, the client is told so and nothing else.
 */
public final class Exchange {
    /** Recording goes on in the background; a store that is well again is noticed within a second. */
    private static final Duration RETRY_AFTER_NOT_RECORDED = Duration.ofSeconds(2);
    /** How long reconciling takes is anybody's guess. */
    static final Duration RETRY_AFTER_UNKNOWN = Duration.ofSeconds(10);

    /** Asking again is what finds out; soon, but not at once. */
    private static final Duration RETRY_AFTER_REPEATABLE = Duration.ofSeconds(1);

    private static final int GATEWAY_TIMEOUT = 504;

    /** What can be done about handlers that are often in doubt without need. */
    private static final String CHOICES = "If a failed handler has had no effect, say so: make it @Transactional, throw"
            + " NotExecuted, give its policy a FailureRule, or set its server errors to retry-always.";

    private static final Logger log = LoggerFactory.getLogger(Exchange.class);

    private final Operation operation;
    private final OpenClaim claim;
    private final Runnable onEnd;

    Exchange(Operation operation, OpenClaim claim, Runnable onEnd) {
        this.operation = operation;
        this.claim = claim;
        this.onEnd = onEnd;
    }

    /**
     * What to send when the response is too large to hold.
     *
     * @param answer what to send; if it streams, only its status and headers
     * @param streams whether that is the head of the handler's own response, to be followed by its body
     */
    public record Large(HttpAnswer answer, boolean streams) {}

    /**
     * What to do about an exception.
     *
     * @param answer what to send
     * @param passes whether the exception may be handed on instead, to those who know how to answer it
     */
    public record Failed(HttpAnswer answer, boolean passes) {}

    /** The operation that runs. */
    public Operation operation() {
        return operation;
    }

    /** The right to execute, for downstream keys and lease checks. Settle it through this exchange only. */
    public OpenClaim claim() {
        return claim;
    }

    /** How much of a response body to hold back at most; a larger one is not stored, see {@link #finishLarge}. */
    public int responseBytesMax() {
        return operation.policy().resultBytesMax();
    }

    /**
     * The handler answered; the entry is settled as the profile says.
     *
     * @return the handler's answer and how long it is kept, or what to send instead
     */
    public HttpAnswer finish(HttpAnswer answer) {
        return finish(answer, () -> StoredResponse.encode(answer, responseBytesMax())).answer;
    }

    /**
     * The handler did not answer in time, and this was answered for it. Its work may go on, so the entry never becomes
     * retryable.
     *
     * @return the answer and how long it is kept if it is stored, else 504 {@code outcome_unknown}
     */
    public HttpAnswer finishLate(HttpAnswer answer) {
        return operation.profile().meaningAfterTimeout(answer.status()) == Meaning.STORED
                ? finish(answer)
                : ambiguous("the asynchronous handler did not answer in time");
    }

    /**
     * The handler has begun to answer with a body over {@link #responseBytesMax}. It is recorded without its body and may be
     * streamed from now on: whatever becomes of the rest, it does not run again (unless the profile says so of its status).
     */
    public Large finishLarge(int status, Headers headers) {
        Sent sent = finish(
                HttpAnswer.of(status, headers),
                () -> StoredResponse.withoutBody(status, headers).encode());
        return new Large(sent.answer, sent.own);
    }

    /** The same for what was answered because the handler did not answer in time; see {@link #finishLate}. */
    public Large finishLargeLate(int status, Headers headers) {
        return operation.profile().meaningAfterTimeout(status) == Meaning.STORED
                ? finishLarge(status, headers)
                : new Large(ambiguous("the asynchronous handler did not answer in time"), false);
    }

    /**
     * The same as {@link #finish(HttpAnswer)} without blocking.
     *
     * @return completed on the loop, or at once
     */
    public CompletionStage<HttpAnswer> finish(HttpAnswer answer, EventLoop on) {
        Supplier<byte[]> record = () -> StoredResponse.encode(answer, responseBytesMax());
        return orUnknown(() -> {
            Ending ending = ending(answer.status(), record);
            return claim.settle(ending, on.blocking())
                    .handleAsync(
                            (result, failure) ->
                                    settle(kept(ending), answer, () -> Futures.get(result, failure)).answer,
                            on.loop());
        });
    }

    private Sent finish(HttpAnswer answer, Supplier<byte[]> record) {
        return orUnknown(() -> {
            Ending ending = ending(answer.status(), record);
            return settle(kept(ending), answer, () -> claim.settle(ending));
        });
    }

    private static Kept kept(Ending ending) {
        return ending instanceof Ending.Completed ? Kept.YES : Kept.NO;
    }

    /** What a status makes of the entry. */
    private Ending ending(int status, Supplier<byte[]> record) {
        Meaning meaning = operation.profile().meaning(status);
        if (meaning == Meaning.UNKNOWN) {
            log.warn(
                    "{} answered {}, so its outcome is unknown until it is reconciled. {}",
                    claim.key(),
                    status,
                    CHOICES);
        }
        return ending(meaning, "status " + status, record);
    }

    private static Ending ending(Meaning meaning, String reason, Supplier<byte[]> record) {
        return switch (meaning) {
            case STORED -> new Ending.Completed(record.get());
            case RETRYABLE -> new Ending.Retryable(reason);
            case UNKNOWN -> new Ending.Unknown(reason);
        };
    }

    /** Whatever breaks on the way, no claim may be left that this node keeps and nobody settles. */
    private <T> T orUnknown(Supplier<T> ending) {
        try {
            return ending.get();
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

    /**
     * Proven: nothing was executed, for example because the connection was refused. The next retry runs.
     *
     * @return 502
     */
    public HttpAnswer notExecuted(String proof) {
        return settle(Kept.NO, refusal(Problem.UPSTREAM_UNREACHABLE.report()), () -> claim.retryable(proof)).answer;
    }

    /**
     * Nobody knows whether it was executed: a time-out or a reset after sending. No client can run it again.
     *
     * @return 504 {@code outcome_unknown}
     */
    public HttpAnswer ambiguous(String reason) {
        HttpAnswer answer = operation
                .profile()
                .refuse(Problem.OUTCOME_UNKNOWN.report().retryAfter(RETRY_AFTER_UNKNOWN), GATEWAY_TIMEOUT);
        return settle(Kept.NO, answer, () -> claim.unknown(reason)).answer;
    }

    /**
     * Whether the answer to this exception is part of the record: then make it and {@link #finish} with it, as if the handler
     * had. Otherwise call {@link #failed}.
     */
    public boolean isAnswerRecorded(Throwable thrown) {
        return operation.profile().meaningOfException() == Meaning.STORED && judge(thrown) instanceof Verdict.Unknown;
    }

    /**
     * As {@link #ambiguous}, but whoever is behind recognises a repeated key by itself: asking again is harmless and the way
     * to find out, so the next retry runs.
     *
     * @return 504 {@code outcome_unknown}
     */
    public HttpAnswer repeatable(String reason) {
        HttpAnswer answer = operation
                .profile()
                .refuse(Problem.OUTCOME_UNKNOWN.report().retryAfter(RETRY_AFTER_REPEATABLE), GATEWAY_TIMEOUT);
        return settle(Kept.NO, answer, () -> claim.retryable("harmless to repeat: " + reason)).answer;
    }

    /**
     * The handler threw. The policy's {@link FailureRule} is asked first; of what it does not know, the profile says what an
     * exception means.
     */
    public Failed failed(Throwable thrown) {
        Sent sent = orUnknown(() -> settle(judge(thrown), thrown));
        return new Failed(sent.answer, sent.own);
    }

    private Sent settle(Verdict verdict, Throwable thrown) {
        if (verdict instanceof Verdict.Final known) {
            HttpAnswer told = failure(operation, known.failure());
            return settle(Kept.YES, told, () -> claim.fail(known.failure())).instead();
        }
        Meaning meaning = verdict instanceof Verdict.NoEffect
                ? Meaning.RETRYABLE
                : operation.profile().meaningOfException();
        String name = thrown.getClass().getName();
        if (meaning == Meaning.UNKNOWN) {
            log.warn(
                    "{} threw {}, which proves nothing, so its outcome is unknown until it is reconciled. {}",
                    claim.key(),
                    name,
                    CHOICES);
        }
        HttpAnswer answer = refusal(Problem.HANDLER_FAILED.report());
        Ending ending = ending(meaning, name, () -> StoredResponse.of(answer).encode());
        return settle(kept(ending), answer, () -> claim.settle(ending));
    }

    private Verdict judge(Throwable thrown) {
        try {
            return operation.policy().failures().judge(thrown);
        } catch (RuntimeException | Error broken) {
            log.error("The failure rule of {} broke, which proves nothing", operation.name(), broken);
            return new Verdict.Unknown();
        }
    }

    /** The answer to everybody for whom a final failure was recorded. */
    static HttpAnswer failure(Operation operation, Failure failure) {
        return operation
                .profile()
                .refuse(Problem.OPERATION_FAILED.because(failure.message()).member("failure", failure.code()));
    }

    private HttpAnswer refusal(Problem.Report report) {
        return operation.profile().refuse(report);
    }

    /** Whether retries are answered from the record. */
    private enum Kept {
        YES,
        NO
    }

    /** What to send, and whether that is the handler's own answer, or stands for its exception. */
    private record Sent(HttpAnswer answer, boolean own) {
        /** For an answer that replaces the handler's. */
        Sent instead() {
            return new Sent(answer, false);
        }
    }

    private Sent settle(Kept kept, HttpAnswer answer, Supplier<SettleResult> settling) {
        try {
            SettleResult result = settling.get();
            if (result instanceof SettleResult.Settled settled) {
                Instant expiresAt = kept == Kept.YES ? settled.expiresAt() : null;
                return new Sent(expiresAt == null ? answer : Boundary.expiring(answer, expiresAt), true);
            }
            log.warn("{} was executed, but lost its claim before that was recorded", claim.key());
            return new Sent(refusal(Problem.OUTCOME_UNKNOWN.report().retryAfter(RETRY_AFTER_UNKNOWN)), false);
        } catch (StoreException e) {
            log.warn("The outcome of {} could not be recorded in time: {}", claim.key(), e.getMessage());
            return new Sent(refusal(Problem.NOT_RECORDED.report().retryAfter(RETRY_AFTER_NOT_RECORDED)), false);
        } finally {
            onEnd.run();
        }
    }
}
