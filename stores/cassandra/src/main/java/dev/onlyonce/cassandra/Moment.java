package dev.onlyonce.cassandra;

/**
 * The times by which a decision is made.
 *
 * @param now the cluster's clock, in microseconds since 1970
 * @param surely an instant that has passed by everybody's clock: what lapsed before it has lapsed
 * @param shard where this call puts its index rows
 * @param nanos this JVM's nano clock then
 */
record Moment(long now, long surely, int shard, long nanos) {}
