package dev.onlyonce.store;

import java.util.List;

/** Claims and settlements that travel together; no id occurs twice. */
public record Batch(List<ClaimRequest> claims, List<Settlement> settlements) {}
