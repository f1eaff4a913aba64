package dev.onlyonce.testkit;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Action;
import dev.onlyonce.Begun;
import dev.onlyonce.Codec;
import dev.onlyonce.Ending;
import dev.onlyonce.FailureRule.Verdict;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.Outcome;
import dev.onlyonce.Registry;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/** How a caller gets its answer. The outcomes must not differ. */
enum CallStyle {
    /** By the engine, on the caller's thread. */
    BLOCKING {
        @Override
        Outcome<String> execute(Onlyonce once, Key key, Fingerprint print, Action<String, RuntimeException> action) {
            return once.execute(key, print, Codec.text(), action);
        }
    },

    /** By a caller that gets its answer in a future, and only waits for it. */
    ASYNC {
        @Override
        Outcome<String> execute(Onlyonce once, Key key, Fingerprint print, Action<String, RuntimeException> action) {
            Registry registry = once.registry();
            Optional<Outcome<byte[]>> cached = registry.cached(key, print);
            if (cached.isPresent()) {
                return cached.get().map(Codec.text()::decode);
            }
            Begun begun = join(registry.claim(key, print, registry.policy(key.operation()), ELSEWHERE));
            if (begun instanceof Begun.Answered answered) {
                return answered.outcome().map(Codec.text()::decode);
            }
            OpenClaim claim = ((Begun.Claimed) begun).claim();
            String value;
            try {
                value = action.run(claim);
            } catch (RuntimeException thrown) {
                Verdict verdict =
                        once.registry().policy(key.operation()).failures().judge(thrown);
                settle(claim, verdict, thrown);
                throw thrown;
            }
            SettleResult result =
                    join(claim.settle(new Ending.Completed(Codec.text().encode(value)), ELSEWHERE));
            return result instanceof SettleResult.Settled settled
                    ? new Outcome.Executed<>(value, requireNonNull(settled.expiresAt()))
                    : new Outcome.Unknown<>(Duration.ofSeconds(1));
        }
    };

    private static final Executor ELSEWHERE = task -> {
        Thread thread = new Thread(task, "elsewhere");
        thread.setDaemon(true);
        thread.start();
    };

    /** Executes once, as {@link Onlyonce#execute} says. */
    abstract Outcome<String> execute(
            Onlyonce once, Key key, Fingerprint print, Action<String, RuntimeException> action);

    private static void settle(OpenClaim claim, Verdict verdict, RuntimeException thrown) {
        String reason = thrown.getClass().getName();
        try {
            join(claim.settle(
                    verdict instanceof Verdict.NoEffect ? new Ending.Retryable(reason) : new Ending.Unknown(reason),
                    ELSEWHERE));
        } catch (StoreException e) {
            thrown.addSuppressed(e);
        }
    }

    static <T> T join(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }
}
