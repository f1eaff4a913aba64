package dev.onlyonce.internal;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Between code that returns or throws and futures that are completed so or so. */
public final class Futures {
    private Futures() {}

    /** Completes with what the code returns or throws. */
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

    /** Returns or throws what a future was completed with. */
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
}
