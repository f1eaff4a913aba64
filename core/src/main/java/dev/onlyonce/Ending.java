package dev.onlyonce;

import dev.onlyonce.store.Failure;

/** How a claim ends. */
public sealed interface Ending {
    /** It has its result; every retry is answered with it. One that is too large for the policy is not stored. */
    record Completed(byte[] result) implements Ending {}

    /** It completed, and its result cannot be stored: it never runs again. */
    record CompletedWithoutResult() implements Ending {}

    /** It failed for good; every retry is answered with that. */
    record Failed(Failure failure) implements Ending {}

    /** Proven: no effect happened. The next request executes again. */
    record Retryable(String proof) implements Ending {}

    /** Nobody knows what happened. */
    record Unknown(String reason) implements Ending {}
}
