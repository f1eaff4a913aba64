package dev.onlyonce;

/** The result of beginning an operation: the right to execute, or the answer. */
public sealed interface Begun {
    /** The caller must execute, and settle the claim in every case. */
    record Claimed(OpenClaim claim) implements Begun {}

    /** There is nothing to execute: never {@link Outcome.Executed}. */
    record Answered(Outcome<byte[]> outcome) implements Begun {}
}
