package dev.onlyonce.testkit;

/** A part of the contract: an interface with tests, so that one class can be all of them. */
interface Chapter {
    /** What the tests work with. */
    Bench bench();

    /** The largest result that the store keeps, if it records larger ones as completed without their bytes. */
    default int resultBytesKept() {
        return Integer.MAX_VALUE;
    }
}
