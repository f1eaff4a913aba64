package dev.onlyonce.testkit.messages;

/** Some of the contract. */
interface ConsumerPart {
    /** What the tests work with. */
    ConsumerBench bench();
}
