package dev.onlyonce.store;

import java.util.List;

/** The answers to a {@link Batch}, each list in the order of the batch's. */
public record BatchResult(List<ClaimResult> claims, List<SettleResult> settlements) {}
