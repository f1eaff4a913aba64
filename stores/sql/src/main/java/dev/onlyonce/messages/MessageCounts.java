package dev.onlyonce.messages;

/**
 * How many messages of a consumer went which way since its start.
 *
 * @param applied took effect now
 * @param repeated were recognised, and left alone
 * @param retried failures that were followed by another try
 * @param dead became dead letters
 * @param hung handlers that had to be interrupted
 */
public record MessageCounts(long applied, long repeated, long retried, long dead, long hung) {}
