package dev.onlyonce.http;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Begun;
import dev.onlyonce.FailureRule;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request for an operation, from its check to its end. {@link #stage} says where it stands and what the caller does next:
 *
 * <ol>
 *   <li>{@link Boundary#exchange} checks the request and answers from memory if it can. Otherwise the exchange is {@link
 *       Stage#READY}.
 *   <li>{@link #begin} claims the key. The winner is {@link Stage#RUNNING}; for everybody else there is an {@link #answer}.
 *   <li>The caller executes, and calls exactly one of the ending methods, once. Each returns when the entry is durable, with the
 *       answer that may be sent then. It differs from the handler's if the store did not take the record, or the claim was lost.
 * </ol>
 *
 * <p>A way that claims the key in a transaction of its own calls {@link #admit}, {@link #started} and {@link #release} in place
 * of {@code begin} and the ending methods. Any thread, one at a time.
 */
public final class Exchange {
    private final Onlyonce once;
    private final Answers answers;
    private final Endings endings;
    private RequestCheck.@Nullable Accepted accepted;
    private final LimitReservation reservation;
    private Stage stage;
    private @Nullable HttpAnswer answer;
    private @Nullable Recorder recorder;

    /** Where an exchange stands. */
    public enum Stage {
        /** The request is not protected: pass it on as it came, and its response too. */
        UNPROTECTED,
        /** The key is to be claimed: call {@link Exchange#begin}. */
        READY,
        /** The request is not executed: send {@link Exchange#answer}. */
        ANSWERED,
        /**
         * Another request with this key is running: send {@link Exchange#answer}, or {@linkplain Exchange#await wait} for the
         * other one.
         */
        DUPLICATE,
        /** The claim is held: execute the request, and end the exchange whatever happens. */
        RUNNING,
        /** The claim is settled. */
        ENDED
    }

    /**
     * The answer when the response is too large to hold.
     *
     * @param answer what to send; if it streams, only its status and headers
     * @param streams whether that is the head of the handler's own response, to be followed by its body
     */
    public record Large(HttpAnswer answer, boolean streams) {}

    /**
     * The answer to an exception.
     *
     * @param answer what to send
     * @param passes whether to rethrow the exception instead, to code that knows how to answer it
     */
    public record Failed(HttpAnswer answer, boolean passes) {}

    /** Of an accepted request; without one, of a request that is not protected. */
    Exchange(Onlyonce once, Answers answers, RequestCheck.@Nullable Accepted accepted, LimitReservation reservation) {
        this.once = once;
        this.answers = answers;
        this.endings = new Endings(answers.operation());
        this.accepted = accepted;
        this.reservation = reservation;
        this.stage = accepted == null ? Stage.UNPROTECTED : Stage.READY;
    }

    static Exchange unprotected(Onlyonce once, Answers answers) {
        return new Exchange(once, answers, null, LimitReservation.none());
    }

    static Exchange refused(Onlyonce once, Answers answers, Problem.Report report) {
        Exchange exchange = unprotected(once, answers);
        exchange.answered(answers.refusal(report));
        return exchange;
    }

    /** Where it stands. */
    public Stage stage() {
        return stage;
    }

    /** The operation that the request asks for. */
    public Operation operation() {
        return answers.operation();
    }

    /** The answers of this operation. */
    public Answers answers() {
        return answers;
    }

    /** The key; only of a request that was checked and not refused. */
    public Key key() {
        return accepted().key();
    }

    /** The fingerprint; only of a request that was checked and not refused. */
    public Fingerprint fingerprint() {
        return accepted().fingerprint();
    }

    private RequestCheck.Accepted accepted() {
        return requireNonNull(accepted, "the request has no key");
    }

    /** What to send when the stage is {@link Stage#ANSWERED} or {@link Stage#DUPLICATE}. */
    public HttpAnswer answer() {
        return requireNonNull(answer, "there is no answer yet");
    }

    private void answered(HttpAnswer answer) {
        this.answer = answer;
        stage = Stage.ANSWERED;
    }

    /** The claim while the stage is {@link Stage#RUNNING}, for downstream keys and lease checks. Settle it through this exchange. */
    public OpenClaim claim() {
        return recorder().claim();
    }

    /** Answers if this node has the answer in memory; never asks the store. */
    void answerFromMemory() {
        if (!operation().formerly().isEmpty()) {
            // Only the store knows under which name the key is stored.
            return;
        }
        try {
            once.registry().cached(key(), fingerprint()).ifPresent(outcome -> answered(answers.to(outcome)));
        } catch (StoreException e) {
            answered(answers.storeUnavailable(e));
        }
    }

    /**
     * Claims the key, and blocks for as long as the store takes and the policy lets a duplicate wait. Trouble with the store is an
     * answer too; the request does not run then. Does nothing unless the stage is {@link Stage#READY}.
     *
     * @return this
     */
    public Exchange begin() {
        if (stage != Stage.READY) {
            return this;
        }
        // A waiting duplicate must not hold the share of the limits that a request to be executed needs.
        boolean asksFirst =
                reservation.isLimited() && !operation().policy().waitMax().isZero();
        beginWithinLimits(asksFirst ? withoutWaiting() : operation().policy());
        return asksFirst && stage == Stage.DUPLICATE ? await() : this;
    }

    /** Waits for the running request with this key, as long as the policy allows, and claims the key if that request releases it. */
    public Exchange await() {
        return claim(operation().policy());
    }

    /**
     * As {@link #begin()}, without blocking: a duplicate of a running request does not wait.
     *
     * @return this exchange, completed on the loop or at once
     */
    public CompletionStage<Exchange> begin(EventLoop on) {
        Policy policy = withoutWaiting();
        boolean asksFirst = !operation().formerly().isEmpty() || accepted().objection() != null;
        if (asksFirst || reservation.reserve().isPresent()) {
            // Only the store knows whether the key exists already, and under which name.
            return CompletableFuture.supplyAsync(() -> beginWithinLimits(policy), on.blocking())
                    .thenApplyAsync(exchange -> exchange, on.loop());
        }
        try {
            return once.registry()
                    .claim(key(), fingerprint(), policy, on.blocking())
                    .handleAsync((begun, failure) -> begun(() -> EventLoop.get(begun, failure)), on.loop());
        } catch (Throwable e) {
            reservation.release();
            throw e;
        }
    }

    private Policy withoutWaiting() {
        Policy policy = operation().policy();
        return policy.waitMax().isZero()
                ? policy
                : policy.toBuilder().waitMax(Duration.ZERO).build();
    }

    private Exchange claim(Policy policy) {
        return begun(() -> once.registry().claim(key(), fingerprint(), policy));
    }

    private Exchange beginWithinLimits(Policy policy) {
        admit();
        return stage == Stage.READY ? claim(policy) : this;
    }

    /**
     * Reserves the tenant's limits for a caller that claims the key itself. Over its limits a tenant may still ask about keys that
     * it has, but not run them again. The stage stays {@link Stage#READY}, or there is an {@link #answer}. Call {@link #started}
     * when the execution starts, and {@link #release} whatever happens.
     *
     * @return this
     */
    public Exchange admit() {
        if (stage != Stage.READY) {
            return this;
        }
        try {
            if (!operation().formerly().isEmpty()) {
                Key stored = FormerNames.stored(once, key(), operation().formerly());
                accepted = new RequestCheck.Accepted(
                        stored, fingerprint(), accepted().objection());
            }
            RequestAge.Objection objection = accepted().objection();
            if (objection != null
                    && once.find(key())
                            .filter(entry ->
                                    objection.isAnsweredBy(entry, operation().profile()))
                            .isEmpty()) {
                answered(answers.refusal(objection.report()));
                return this;
            }
            reservation.admit(() -> once.find(key())).ifPresent(report -> answered(answers.refusal(report)));
        } catch (StoreException e) {
            answered(answers.storeUnavailable(e));
        }
        return this;
    }

    /**
     * The key is claimed and the execution starts; see {@link #admit}.
     *
     * @param newKey whether the key was new: retries do not count as new keys
     */
    public void started(boolean newKey) {
        reservation.began(newKey);
    }

    /** Gives back what the exchange holds of the tenant's limits. More than once does nothing; the ending methods do it too. */
    public void release() {
        reservation.release();
    }

    /** Goes on from the store's answer. What was reserved stays with the execution that starts, or is given back. */
    private Exchange begun(Supplier<Begun> begin) {
        try {
            Begun begun = begin.get();
            if (begun instanceof Begun.Claimed claimed) {
                run(claimed.claim());
            } else {
                Outcome<byte[]> outcome = ((Begun.Answered) begun).outcome();
                answered(answers.to(outcome));
                stage = outcome instanceof Outcome.InFlight ? Stage.DUPLICATE : Stage.ANSWERED;
            }
        } catch (StoreException e) {
            answered(answers.storeUnavailable(e));
        } finally {
            if (stage != Stage.RUNNING) {
                release();
            }
        }
        return this;
    }

    private void run(OpenClaim won) {
        RequestAge.Objection objection = accepted().objection();
        if (objection != null && won.attempt() == 1) {
            // Its entry expired after it was looked up.
            won.retryable("the request is too old to run");
            answered(answers.refusal(objection.report()));
            return;
        }
        try {
            started(won.attempt() == 1);
            hold(won);
        } catch (RuntimeException | Error broken) {
            // Nobody will execute it, so nobody would settle it.
            won.retryable("it could not be begun: " + broken.getClass().getName());
            throw broken;
        }
    }

    private void hold(OpenClaim won) {
        recorder = new Recorder(won, answers, endings, this::ended);
        stage = Stage.RUNNING;
    }

    /** How much of a response body to hold back at most; a larger one is not stored, see {@link #finishLarge}. */
    public int responseBytesMax() {
        return operation().policy().resultBytesMax();
    }

    /**
     * The handler answered; the entry is settled as the profile says.
     *
     * @return the handler's answer and how long it is kept, or what to send instead
     */
    public HttpAnswer finish(HttpAnswer own) {
        return recorder().finish(own);
    }

    /**
     * As {@link #finish(HttpAnswer)}, without blocking.
     *
     * @return completed on the loop, or at once
     */
    public CompletionStage<HttpAnswer> finish(HttpAnswer own, EventLoop on) {
        return recorder().finish(own, on);
    }

    /**
     * The handler did not answer in time, and this was answered for it. Its work may go on, so the entry never becomes
     * retryable.
     *
     * @return the answer and how long it is kept if it is stored, else 504 {@code outcome_unknown}
     */
    public HttpAnswer finishLate(HttpAnswer late) {
        return recorder().finishLate(late);
    }

    /**
     * The handler has begun to answer with a body over {@link #responseBytesMax}. It is recorded without its body and may be
     * streamed from now on: whatever happens to the rest, it does not run again (unless the profile says so of its status).
     */
    public Large finishLarge(int status, Headers headers) {
        return recorder().finishLarge(status, headers);
    }

    /** As {@link #finishLarge}, for what was answered because the handler took too long; see {@link #finishLate}. */
    public Large finishLargeLate(int status, Headers headers) {
        return recorder().finishLargeLate(status, headers);
    }

    /**
     * Proven: nothing was executed, for example because the connection was refused. The next retry runs.
     *
     * @return 502
     */
    public HttpAnswer notExecuted(String proof) {
        return recorder().notExecuted(proof);
    }

    /**
     * Nobody knows whether it was executed: a time-out or a reset after sending. No client can run it again.
     *
     * @return 504 {@code outcome_unknown}
     */
    public HttpAnswer ambiguous(String reason) {
        return recorder().ambiguous(reason);
    }

    /**
     * As {@link #ambiguous}, but the upstream recognises a repeated key by itself: asking again is harmless and the way to find
     * out, so the next retry runs.
     *
     * @return 504 {@code outcome_unknown}
     */
    public HttpAnswer repeatable(String reason) {
        return recorder().repeatable(reason);
    }

    /**
     * Whether the answer to this exception is part of the record: then make it and {@link #finish} with it, as if the handler
     * had. Otherwise call {@link #failed}.
     */
    public boolean isAnswerRecorded(Throwable thrown) {
        return endings.isAnswerRecorded(thrown);
    }

    /**
     * The handler threw. The policy's {@link FailureRule} decides first; where it does not know, the profile says what an
     * exception means.
     */
    public Failed failed(Throwable thrown) {
        return recorder().failed(thrown);
    }

    /**
     * Records the answer to a request that was rolled back. The key is claimed for the record alone. For {@link #admit}.
     *
     * @return the answer and how long it is kept, or what to send instead
     */
    public HttpAnswer record(HttpAnswer own) {
        try {
            Begun begun =
                    once.registry().begin(key(), fingerprint(), operation().policy());
            if (begun instanceof Begun.Claimed claimed) {
                hold(claimed.claim());
                return finish(own);
            }
            return answers.to(((Begun.Answered) begun).outcome());
        } catch (StoreException e) {
            return answers.storeUnavailable(e);
        }
    }

    private Recorder recorder() {
        return requireNonNull(recorder, "nothing was claimed");
    }

    private void ended() {
        stage = Stage.ENDED;
        release();
    }
}
