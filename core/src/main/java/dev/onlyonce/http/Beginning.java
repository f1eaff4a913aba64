package dev.onlyonce.http;

import dev.onlyonce.Begun;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.internal.Later;
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
        return beginLimited(ready, operation.policy());
    }

    @Override
    public CompletionStage<HttpDecision> begin(Prepared.Ready ready, EventLoop on) {
        Policy policy = operation.policy();
        Policy atOnce = policy.waitMax().isZero()
                ? policy
                : policy.toBuilder().waitMax(Duration.ZERO).build();
        if (boundary.over(asked).isPresent()) {
            // The store must be asked whether the key exists.
            return CompletableFuture.supplyAsync(() -> beginLimited(ready, atOnce), on.blocking())
                    .thenApplyAsync(decision -> decision, on.loop());
        }
        return once.begin(asked.key(), asked.fingerprint(), atOnce, on.blocking())
                .handleAsync((begun, failure) -> decide(ready, () -> Later.get(begun, failure)), on.loop());
    }

    private HttpDecision beginLimited(Prepared.Ready ready, Policy policy) {
        try {
            if (boundary.limit(operation, asked) instanceof Checked.Refused refused) {
                return new HttpDecision.Answer(refused.answer());
            }
        } catch (StoreException e) {
            return new HttpDecision.Answer(boundary.unavailable(operation, e));
        }
        return decide(ready, () -> once.begin(asked.key(), asked.fingerprint(), policy));
    }

    private HttpDecision decide(Prepared.Ready ready, Supplier<Begun> begin) {
        Begun begun;
        try {
            begun = begin.get();
        } catch (StoreException e) {
            return new HttpDecision.Answer(boundary.unavailable(operation, e));
        }
        if (begun instanceof Begun.Mine mine) {
            return run(mine.claim());
        }
        Outcome<byte[]> outcome = ((Begun.Answered) begun).outcome();
        ready.setInFlight(outcome instanceof Outcome.InFlight);
        return new HttpDecision.Answer(boundary.answer(operation, outcome));
    }

    private HttpDecision run(OpenClaim claim) {
        try {
            Runnable onEnd = boundary.began(asked.key(), claim.attempt() == 1);
            return new HttpDecision.Run(new Exchange(operation, claim, onEnd));
        } catch (RuntimeException | Error broken) {
            // Nobody will execute it, so nobody would settle it.
            claim.retryable("it could not be begun: " + broken.getClass().getName());
            throw broken;
        }
    }
}
