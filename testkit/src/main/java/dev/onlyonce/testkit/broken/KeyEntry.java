package dev.onlyonce.testkit.broken;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** What is known of a key. */
final class KeyEntry {
    private final @Nullable Requested requested;
    private final CompletableFuture<TinyAnswer> answer = new CompletableFuture<>();

    /** For this request; null if nobody knows yet for which. */
    KeyEntry(@Nullable Requested requested) {
        this.requested = requested;
    }

    boolean isFor(Requested other) {
        return requested == null || requested.fingerprint().equals(other.fingerprint());
    }

    String target() {
        return requested == null ? "" : requested.target();
    }

    boolean isRunning() {
        return !answer.isDone();
    }

    boolean isSuccess() {
        TinyAnswer end = answer();
        return end != null && end.status() < 300;
    }

    @Nullable
    TinyAnswer answer() {
        return answer.getNow(null);
    }

    TinyAnswer await() {
        return answer.join();
    }

    void end(TinyAnswer end) {
        answer.complete(end);
    }
}
