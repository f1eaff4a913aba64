package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;

/** Runs an action under its claim and settles the claim, whatever the action does. */
final class Execution {
    private Execution() {}

    static <T, X extends Exception> Outcome<T> run(
            OpenClaim claim, FailureRule failures, Codec<T> codec, Action<T, X> action) throws X {
        if (!claim.isHeld()) {
            String why = "The lease lapsed before the action began, so it did not run";
            StoreUnavailable lapsed = new StoreUnavailable(why, null);
            settle(claim, new Ending.Retryable(why), lapsed);
            throw lapsed;
        }
        T value;
        try {
            value = action.run(claim);
        } catch (Throwable thrown) {
            settle(claim, failures, thrown);
            throw thrown;
        }
        byte[] encoded;
        try {
            encoded = requireNonNull(codec.encode(value), "the encoded result");
        } catch (RuntimeException | Error e) {
            // The effect has happened: even if its result cannot be stored, it must not happen again.
            settle(claim, new Ending.CompletedWithoutResult(), e);
            throw e;
        }
        SettleResult result = claim.complete(encoded);
        return result instanceof SettleResult.Settled settled
                ? new Outcome.Executed<>(value, requireNonNull(settled.expiresAt()))
                : new Outcome.Unknown<>(Answer.RETRY_AFTER_UNKNOWN);
    }

    private static void settle(OpenClaim claim, FailureRule failures, Throwable thrown) {
        Ending unknown = new Ending.Unknown(thrown.getClass().getName());
        try {
            FailureRule.Verdict verdict = failures.judge(thrown);
            if (verdict instanceof FailureRule.Verdict.NoEffect) {
                settle(claim, new Ending.Retryable(thrown.getClass().getName()), thrown);
            } else if (verdict instanceof FailureRule.Verdict.Final failed) {
                settle(claim, new Ending.Failed(failed.failure()), thrown);
            } else {
                settle(claim, unknown, thrown);
            }
        } catch (RuntimeException | Error e) {
            // Either the rule broke, or its verdict cannot be recorded: the outcome is unknown.
            suppress(thrown, e);
            try {
                settle(claim, unknown, thrown);
            } catch (RuntimeException | Error again) {
                suppress(thrown, again);
            }
        }
    }

    private static void suppress(Throwable thrown, Throwable other) {
        if (other != thrown) {
            thrown.addSuppressed(other);
        }
    }

    /** Ends a claim for a caller that must see its own exception; recording goes on in the background. */
    private static void settle(OpenClaim claim, Ending ending, Throwable thrown) {
        try {
            claim.settle(ending);
        } catch (StoreException e) {
            suppress(thrown, e);
        }
    }
}
