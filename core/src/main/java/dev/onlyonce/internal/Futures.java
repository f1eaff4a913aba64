package dev.onlyonce.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Connects code that returns or throws with futures. */
public final class Futures {
    private Futures() {}

    /** Completes a future with the value that the code returns or the exception that it throws. */
    public static <T> void complete(CompletableFuture<T> future, Supplier<T> code) {
        T result;
        try {
            result = code.get();
        } catch (RuntimeException | Error e) {
            future.completeExceptionally(e);
            return;
        }
        future.complete(result);
    }

    /** Returns the result of a future, or throws its failure by identity. */
    public static <T> T get(@Nullable T result, @Nullable Throwable failure) {
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
        if (result == null) {
            throw new IllegalStateException("there is neither a result nor a known failure", failure);
        }
        return result;
    }

    /** Runs work on an executor; if the executor does not take it, reports why. */
    public static void execute(Executor executor, Runnable work, Consumer<Throwable> onRejected) {
        try {
            executor.execute(work);
        } catch (RuntimeException | Error e) {
            // The executor is full or closed, or there is no thread.
            onRejected.accept(e);
        }
    }
}
