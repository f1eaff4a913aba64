package dev.onlyonce.http;

import dev.onlyonce.Begun;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** Claims the key of a request that was checked, and says what is to be done with it. */
final class Beginning implements Prepared.Ready.Begin {
    private final Boundary boundary;
    private final Onlyonce once;
    private final Operation operation;
    private final Checked.Asked asked;

    Beginning(Boundary boundary, Onlyonce once, Operation operation, Checked.Asked asked) {
        this.boundary = boundary;
        this.once = once;
        this.operation = operation;
        this.asked = asked;
    }

    @Override
    public HttpDecision begin(Prepared.Ready ready) {
        Policy policy = operation.policy();
        // A duplicate that waits must not keep the room that a request to be executed needs: so it asks first, then
        // waits.
        boolean asksFirst = boundary.limitsKeys() && !policy.waitMax().isZero();
        if (!ready.isInFlight()) {
            HttpDecision decision = beginLimited(ready, asksFirst ? atOnce() : policy);
            if (!asksFirst || !ready.isInFlight()) {
                return decision;
            }
        }
        return decide(ready, () -> once.registry().claim(asked.key(), asked.fingerprint(), policy));
    }

    @Override
    public CompletionStage<HttpDecision> begin(Prepared.Ready ready, EventLoop on) {
        Policy policy = atOnce();
        if (asked.room().reserve().isPresent()) {
            // The store must be asked whether the key exists.
            return CompletableFuture.supplyAsync(() -> beginLimited(ready, policy), on.blocking())
                    .thenApplyAsync(decision -> decision, on.loop());
        }
        try {
            return once.registry()
                    .claim(asked.key(), asked.fingerprint(), policy, on.blocking())
                    .handleAsync((begun, failure) -> decide(ready, () -> Futures.get(begun, failure)), on.loop());
        } catch (Throwable e) {
            asked.room().release();
            throw e;
        }
    }

    private Policy atOnce() {
        Policy policy = operation.policy();
        return policy.waitMax().isZero()
                ? policy
                : policy.toBuilder().waitMax(Duration.ZERO).build();
    }

    private HttpDecision beginLimited(Prepared.Ready ready, Policy policy) {
        try {
            if (boundary.limit(operation, asked) instanceof Checked.Refused refused) {
                return new HttpDecision.Answer(refused.answer());
            }
        } catch (StoreException e) {
            return new HttpDecision.Answer(boundary.unavailable(operation, e));
        }
        return decide(ready, () -> once.registry().claim(asked.key(), asked.fingerprint(), policy));
    }

    /** Goes on from the store's answer. Room that was reserved goes to the exchange that begins, or back. */
    private HttpDecision decide(Prepared.Ready ready, Supplier<Begun> begin) {
        boolean runs = false;
        try {
            Begun begun = begin.get();
            if (begun instanceof Begun.Claimed mine) {
                HttpDecision run = run(mine.claim());
                runs = true;
                return run;
            }
            Outcome<byte[]> outcome = ((Begun.Answered) begun).outcome();
            ready.setInFlight(outcome instanceof Outcome.InFlight);
            return new HttpDecision.Answer(boundary.answer(operation, outcome));
        } catch (StoreException e) {
            return new HttpDecision.Answer(boundary.unavailable(operation, e));
        } finally {
            if (!runs) {
                asked.room().release();
            }
        }
    }

    private HttpDecision run(OpenClaim claim) {
        try {
            asked.room().began(claim.attempt() == 1);
            return new HttpDecision.Run(
                    new Exchange(operation, claim, () -> asked.room().release()));
        } catch (RuntimeException | Error broken) {
            // Nobody will execute it, so nobody would settle it.
            claim.retryable("it could not be begun: " + broken.getClass().getName());
            throw broken;
        }
    }
}
