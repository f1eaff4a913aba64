package dev.onlyonce;

/** What beginning an operation came to: the right to execute, or the answer. */
public sealed interface Begun {
    /** The caller must execute, and settle the claim whatever happens. */
    record Claimed(OpenClaim claim) implements Begun {}

    /** There is nothing to execute: never {@link Outcome.Executed}. */
    record Answered(Outcome<byte[]> outcome) implements Begun {}
}
