package dev.onlyonce.store;

/** The next state of an entry whose owner let its lease run out. The codes are stored. */
public enum OnLeaseLost {
    /** Nobody knows what happened: reconcile. The default, and the only choice that never guesses. */
    UNKNOWN(1, State.UNKNOWN),
    /** Finished steps are recorded: the next attempt resumes after the last of them. */
    RESUME(2, State.RETRYABLE),
    /** The operator declares the action harmless to repeat: the next request executes it again. */
    RETRY(3, State.RETRYABLE);

    private final int code;
    private final State next;

    OnLeaseLost(int code, State next) {
        this.code = code;
        this.next = next;
    }

    /** The stored code. */
    public int code() {
        return code;
    }

    /** The state that a lapsed entry changes to. */
    public State next() {
        return next;
    }

    /** The policy with this stored code. */
    public static OnLeaseLost of(int code) {
        for (OnLeaseLost policy : values()) {
            if (policy.code == code) {
                return policy;
            }
        }
        throw new IllegalArgumentException(
                "unknown lease policy code " + code + ": was it written by a newer release?");
    }
}
