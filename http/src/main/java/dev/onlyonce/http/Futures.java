package dev.onlyonce.http;

import org.jspecify.annotations.Nullable;

/** Between a future's two arguments and code that returns or throws. */
final class Futures {
    private Futures() {}

    /** Returns or throws what a future was completed with. */
    static <T> T get(@Nullable T result, @Nullable Throwable failure) {
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
