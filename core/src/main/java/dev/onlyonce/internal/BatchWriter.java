package dev.onlyonce.internal;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes one call to the store for a batch of one kind and hands out the answers.
 *
 * <ol>
 *   <li>If the outcome of a call is unknown, it makes the same call again: tokens make the repetition harmless.
 *   <li>If the leader was interrupted, that may be why the call failed. The interrupt concerns the leader alone: it is put
 *       aside, nobody hears of a failure, and the calls that are not done go with another leader.
 *   <li>If the store refuses a batch, the batch goes again in parts, see {@link Splitting}, so that a bad row fails no other.
 *   <li>An {@link Error} may be the leader's own problem (its stack is used up): it goes on with its own call alone, and the
 *       others go with the next leader. Each leader ends its own call, so this terminates.
 *   <li>A call that its caller has given up does not go again. After the leader's time limit nothing goes again.
 * </ol>
 */
final class BatchWriter {
    /** How often a call whose outcome is unknown is made before it is reported as unknown. */
    static final int OUTCOME_TRIES = 3;

    private static final Logger log = LoggerFactory.getLogger(BatchWriter.class);

    private final Time time;
    private final Pause pause;
    private final Consumer<StoreException> onFailure;

    BatchWriter(Time time, Pause pause, Consumer<StoreException> onFailure) {
        this.time = time;
        this.pause = pause;
        this.onFailure = onFailure;
    }

    /**
     * Writes a batch; throws nothing. Calls that are not done afterwards go with another leader.
     *
     * @param batch the leader's own call first
     * @param deadlineNanos no attempt starts after it, except the first
     * @return whether this thread was interrupted meanwhile; its status is cleared
     */
    boolean write(List<PendingCall<?, ?>> batch, long deadlineNanos) {
        Attempts attempts = new Attempts(batch.get(0), deadlineNanos);
        attempts.attempt(batch);
        return attempts.interrupted;
    }

    /** The attempts of one batch. */
    private final class Attempts {
        private final PendingCall<?, ?> own;
        private final long deadlineNanos;
        private boolean begun;
        private boolean interrupted = Thread.interrupted();

        Attempts(PendingCall<?, ?> own, long deadlineNanos) {
            this.own = own;
            this.deadlineNanos = deadlineNanos;
        }

        void attempt(List<PendingCall<?, ?>> batch) {
            List<PendingCall<?, ?>> rest = batch;
            for (int tries = 1; ; tries++) {
                rest = begun ? rest.stream().filter(call -> !call.isDone()).toList() : rest;
                if (rest.isEmpty() || (begun && time.nanos() - deadlineNanos >= 0)) {
                    return;
                }
                begun = true;
                try {
                    answer(rest.get(0).kind(), rest);
                    interrupted |= Thread.interrupted();
                    pause.succeeded();
                    return;
                } catch (RuntimeException | Error e) {
                    boolean now = Thread.interrupted();
                    interrupted |= now;
                    if (!isNothingChanged(e)) {
                        rest.forEach(PendingCall::doubt);
                    }
                    if (now) {
                        return;
                    }
                    if (tries == OUTCOME_TRIES || !(e instanceof StoreOutcomeUnknown)) {
                        failed(rest, e);
                        return;
                    }
                    report(e);
                }
            }
        }

        private void failed(List<PendingCall<?, ?>> batch, Throwable e) {
            if (e instanceof StoreUnavailable) {
                pause.failed();
            }
            boolean concernsAll = e instanceof StoreUnavailable || e instanceof StoreOutcomeUnknown;
            if (e instanceof Error && !(batch.size() == 1 && batch.get(0) == own)) {
                report(e);
                if (batch.contains(own)) {
                    attempt(List.of(own));
                }
            } else if (concernsAll || batch.size() == 1) {
                report(e);
                batch.forEach(call -> call.fail(call.isInDoubt() ? doubt(e) : e));
            } else {
                Splitting.parts(batch, e).forEach(this::attempt);
            }
        }
    }

    private static boolean isNothingChanged(Throwable e) {
        return e instanceof StoreUnavailable || e instanceof StoreBusy || e instanceof StoreRejected;
    }

    /** An earlier attempt may have written, even if this one did not; so may one that broke. */
    private static StoreOutcomeUnknown doubt(Throwable e) {
        return e instanceof StoreOutcomeUnknown unknown
                ? unknown
                : new StoreOutcomeUnknown("The store broke, or did not answer and then failed again", e);
    }

    private void report(Throwable e) {
        if (e instanceof StoreException failure) {
            onFailure.accept(failure);
        } else {
            log.error("A call of the store broke", e);
        }
    }

    @SuppressWarnings("unchecked")
    private <Q, R> void answer(PendingCall.Kind<Q, R> kind, List<PendingCall<?, ?>> batch) {
        List<PendingCall<Q, R>> calls = new ArrayList<>(batch.size());
        List<Q> requests = new ArrayList<>(batch.size());
        for (PendingCall<?, ?> any : batch) {
            // All calls of a batch are of one kind.
            PendingCall<Q, R> call = (PendingCall<Q, R>) any;
            calls.add(call);
            requests.add(call.request());
        }
        List<R> results = Splitting.ask(requests, kind::send);
        StoreException refusal = null;
        for (int i = 0; i < calls.size(); i++) {
            PendingCall<Q, R> call = calls.get(i);
            R result = results.get(i);
            StoreException refused = refusal(result);
            if (refused == null) {
                call.answer(result);
            } else {
                call.fail(call.isInDoubt() ? doubt(refused) : refused);
                refusal = refusal instanceof StoreUnavailable ? refusal : refused;
            }
        }
        if (refusal != null) {
            onFailure.accept(refusal);
        }
    }

    /** Why one call of a batch was not done; null if it was. The store as a whole is well, so there is no {@link Pause}. */
    private static <R> @Nullable StoreException refusal(R result) {
        if (result instanceof ClaimResult.Unavailable unavailable) {
            return new StoreUnavailable(unavailable.why(), null);
        }
        return result instanceof ClaimResult.Busy || result instanceof SettleResult.Busy
                ? new StoreBusy("Somebody else holds the row", null)
                : null;
    }
}
