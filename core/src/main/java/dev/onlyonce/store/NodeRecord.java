package dev.onlyonce.store;

import java.time.Instant;

/**
 * A node that uses a store, as it was when it last said so. Times are the store's clock.
 *
 * @param name the node's name, as in entries and in the audit
 * @param version of Onlyonce that it runs
 */
public record NodeRecord(String name, String version, Instant startedAt, Instant seenAt) {}
