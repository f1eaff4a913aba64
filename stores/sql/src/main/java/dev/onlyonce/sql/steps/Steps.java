package dev.onlyonce.sql.steps;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.FailureRule;
import dev.onlyonce.Key;
import dev.onlyonce.LeaseLost;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.Way;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.entries.HalfDoneReleases;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The stepped way to execute: several external effects in a row.
 *
 * <ol>
 *   <li>The key is claimed as in the leased way, but a lost lease makes the entry retryable: the next request resumes.
 *   <li>Each step's result and the recovery point commit together. The last statement of that transaction is conditional on
 *       the claim's token: an owner that was fenced out records nothing and gets {@link LeaseLost}.
 *   <li>While an effect runs, a lost lease makes the entry unknown instead: nobody knows whether the effect happened.
 *   <li>The next attempt gets the results of finished steps, and runs the first that is not finished.
 *   <li>When the reconciler or an operator proves that an effect did not happen, the next attempt runs it. When it is found,
 *       either its result is recorded and the next attempt resumes after it ({@link #reconciler}), or the whole
 *       operation is completed with what was found.
 *   <li>A retryable entry with steps does not expire: what has begun is not forgotten and begun again.
 * </ol>
 *
 * <p>Nobody resumes an operation whose client does not come back; unknown ones are reconciled all the same. Safe for any
 * number of threads.
 */
public final class Steps {
    private static final Duration RETRY_AFTER_UNKNOWN = Duration.ofSeconds(10);
    private static final Logger log = LoggerFactory.getLogger(Steps.class);

    private final StepTable table;
    private final Connections connections;
    private final Onlyonce onlyonce;
    private final HalfDoneReleases halfDone;

    private Steps(SqlAccess access, Onlyonce onlyonce) {
        this.table = new StepTable(access.database(), access.sealing());
        this.connections = access.connections();
        this.onlyonce = onlyonce;
        this.halfDone = access.halfDone();
    }

    /**
     * With the operations, listeners and name of an {@link Onlyonce}.
     *
     * @throws IllegalArgumentException if it is not built on a {@link SqlStore}
     */
    public static Steps of(Onlyonce once) {
        return new Steps(SqlStore.of(once, "Steps").access(), once);
    }

    /**
     * Reconciles a stepped operation by its step in doubt: for {@code OperationOptions.reconciler}.
     *
     * @param store the store that the {@link Onlyonce} is about to be built on
     */
    public static Reconciler reconciler(SqlStore store, StepReconciler steps) {
        SqlAccess access = store.access();
        return new StepReconciliation(new StepTable(access.database(), access.sealing()), access.connections(), steps);
    }

    /**
     * Runs the flow, or the rest of it, unless it has been run. The result is stored as JSON.
     *
     * @throws X what the flow throws, by identity
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Class<T> result, Flow<T, X> flow) throws X {
        return execute(key, fingerprint, Codec.json(result), flow);
    }

    /**
     * Runs the flow, or the rest of it, unless it has been run.
     *
     * @return {@link Outcome.Unknown} also if the flow cannot be resumed because a started effect is in doubt
     * @throws X what the flow throws, by identity
     * @throws LeaseLost if the claim was lost on the way; what was recorded before stays recorded
     * @throws StoreException if the database cannot do its part; the next request resumes or finds the outcome unknown
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Codec<T> codec, Flow<T, X> flow) throws X {
        return execute(key, fingerprint, onlyonce.registry().policy(key.operation(), Way.STEPPED), codec, flow);
    }

    /**
     * The same under a policy of the caller's.
     *
     * @throws X what the flow throws, by identity
     */
    public <T, X extends Exception> Outcome<T> execute(
            Key key, Fingerprint fingerprint, Policy given, Codec<T> codec, Flow<T, X> flow) throws X {
        onlyonce.registry().policy(key.operation(), Way.STEPPED);
        Policy policy = given.toBuilder().onLeaseLost(OnLeaseLost.RESUME).build();
        Begun begun = onlyonce.registry().begin(key, fingerprint, policy);
        if (begun instanceof Begun.Answered answered) {
            return answered.outcome().map(codec::decode);
        }
        OpenClaim claim = ((Begun.Claimed) begun).claim();
        StepAttempt steps;
        try {
            StepAttempt.Timing timing =
                    new StepAttempt.Timing(onlyonce.registry().time(), policy.heldMax());
            steps = StepAttempt.of(table, connections, claim, timing);
        } catch (Throwable e) {
            settleRetryable(claim, "no step was run", e);
            throw e;
        }
        return run(claim, steps, policy, codec, flow);
    }

    private <T, X extends Exception> Outcome<T> run(
            OpenClaim claim, StepAttempt steps, Policy policy, Codec<T> codec, Flow<T, X> flow) throws X {
        T value;
        try {
            try {
                value = flow.run(steps);
            } finally {
                steps.end();
            }
            steps.checkEnd();
        } catch (StepAttempt.InDoubt e) {
            settleQuietly(() -> claim.unknown("in doubt: " + e), e);
            return new Outcome.Unknown<>(RETRY_AFTER_UNKNOWN);
        } catch (Throwable thrown) {
            settle(claim, steps, policy, thrown);
            throw thrown;
        }
        byte[] encoded;
        try {
            encoded = codec.encode(value);
        } catch (Throwable e) {
            // The effects have happened: whatever is wrong with the result, they must not happen again.
            settleQuietly(claim::completeWithoutResult, e);
            throw e;
        }
        SettleResult result = claim.complete(encoded);
        if (!(result instanceof SettleResult.Settled settled)) {
            return new Outcome.Unknown<>(RETRY_AFTER_UNKNOWN);
        }
        forget(steps);
        return new Outcome.Executed<>(value, requireNonNull(settled.expiresAt()));
    }

    private void settle(OpenClaim claim, StepAttempt steps, Policy policy, Throwable thrown) {
        if (steps.isInDoubt()) {
            settleQuietly(() -> claim.unknown("in doubt: " + thrown), thrown);
        } else if (!(thrown instanceof LeaseLost)
                && judge(policy.failures(), thrown) instanceof FailureRule.Verdict.Final f) {
            settleQuietly(() -> claim.fail(f.failure()), thrown);
        } else {
            // Effects are in steps only, and none of those is in doubt.
            settleRetryable(claim, thrown.getClass().getName(), thrown);
        }
    }

    /** A rule that throws has no opinion; what the steps say stands. */
    private static FailureRule.Verdict judge(FailureRule failures, Throwable thrown) {
        try {
            return failures.judge(thrown);
        } catch (Throwable e) {
            thrown.addSuppressed(e);
            return new FailureRule.Verdict.Unknown();
        }
    }

    private void settleRetryable(OpenClaim claim, String proof, Throwable thrown) {
        halfDone.register(claim.token());
        settleQuietly(() -> claim.retryable(proof), thrown);
    }

    @FunctionalInterface
    private interface Settling {
        SettleResult settle();
    }

    /** The caller must see what was thrown; an entry that stays claimed is swept, and resumed or found in doubt. */
    private static void settleQuietly(Settling settling, Throwable thrown) {
        try {
            settling.settle();
        } catch (StoreException e) {
            thrown.addSuppressed(e);
        }
    }

    private void forget(StepAttempt steps) {
        try {
            connections.transaction(transaction -> table.bounded(transaction, c -> {
                table.forget(c, steps.of());
                return true;
            }));
        } catch (StoreException e) {
            log.debug("Steps of an answered operation are left for the purge", e);
        }
    }
}
