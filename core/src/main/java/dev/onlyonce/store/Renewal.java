package dev.onlyonce.store;

import java.time.Duration;
import java.util.UUID;

/**
 * Extends a lease: a heartbeat.
 *
 * @param id which entry
 * @param token of the claim
 * @param lease how long from now, by the store's clock
 */
public record Renewal(EntryId id, UUID token, Duration lease) {}
