package dev.onlyonce;

import java.io.Serial;

/** The running action has lost its lease; another owner may run. */
public final class LeaseLost extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** With whose lease. */
    public LeaseLost(String message) {
        super(message);
    }
}
