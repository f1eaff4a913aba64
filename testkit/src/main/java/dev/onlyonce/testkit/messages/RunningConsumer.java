package dev.onlyonce.testkit.messages;

/** A consumer that was started. */
public interface RunningConsumer extends AutoCloseable {
    /** How many messages took effect through it. */
    long applied();

    /** How many it recognised. */
    long repeated();

    /** How many failures were followed by another try. */
    long retried();

    /** How many it gave up. */
    long dead();

    /** Ends it in good order, as an application that stops. Called more than once. */
    @Override
    void close();
}
