package dev.onlyonce.http;

import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The executors of a caller that must not block.
 *
 * @param loop runs what follows on an answer of the store; many come at once
 * @param blocking runs what blocks, which is rare: waiting for a store that did not take a record at once, or claiming what
 *     another request has released
 */
public record EventLoop(Executor loop, Executor blocking) {

    /** Returns or throws what a stage was completed with. */
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
