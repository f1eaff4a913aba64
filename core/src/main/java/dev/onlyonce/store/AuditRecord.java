package dev.onlyonce.store;

import java.time.Instant;

/**
 * A change of state as the audit has it.
 *
 * @param number where a listing goes on; records that were written together may share it
 * @param transition who changed what, and why
 * @param at when it happened, by the store's clock
 */
public record AuditRecord(long number, Transition transition, Instant at) {}
