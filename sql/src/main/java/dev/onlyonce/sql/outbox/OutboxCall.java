package dev.onlyonce.sql.outbox;

/**
 * A call that a worker is to make.
 *
 * @param topic which handler makes it; with the client's key it makes the downstream key
 * @param payload what the handler needs; not copied: do not modify it
 */
public record OutboxCall(String topic, byte[] payload) {}
