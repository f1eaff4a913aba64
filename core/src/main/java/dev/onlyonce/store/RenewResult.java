package dev.onlyonce.store;

/** The answer to a {@link Renewal}. */
public enum RenewResult {
    /** The lease runs from now. */
    RENEWED,
    /** The claim was lost before: nothing was changed. */
    LOST,
    /** Somebody else holds the row just now, or its server cannot take it; nothing was changed, and the claim may still be held. */
    BUSY
}
