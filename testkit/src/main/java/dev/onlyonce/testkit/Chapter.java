package dev.onlyonce.testkit;

/** A part of the contract: an interface with tests, so that one class can be all of them. */
interface Chapter {
    /** What the tests work with. */
    Bench bench();
}
