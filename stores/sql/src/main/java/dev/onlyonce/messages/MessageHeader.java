package dev.onlyonce.messages;

/**
 * A header of a message.
 *
 * @param value not copied: do not modify it
 */
public record MessageHeader(String name, byte[] value) {}
