package dev.onlyonce.store;

import java.util.EnumSet;
import java.util.Set;

/**
 * Where an entry stands. The codes are stored: they never change and are never reused.
 *
 * <p>{@link #canBecome} is the only place that decides what may follow what. An absent entry may become
 * {@link #PENDING} or {@link #PROCESSING}; an entry past its retention (and past its tombstone) counts as absent.
 */
public enum State {
    /** Accepted for a worker; nobody has executed it yet. */
    PENDING(1),
    /** Claimed: its owner executes it, or died doing so. */
    PROCESSING(2),
    /** The result (success or final refusal) is recorded and replayed. */
    COMPLETED(3),
    /** A non-retryable failure is recorded and replayed. */
    FAILED(4),
    /** Proven: no effect happened. The next request may execute. */
    RETRYABLE(5),
    /** Nobody knows whether the effect happened. Only the reconciler or an operator moves it on. */
    UNKNOWN(6),
    /** Past its retention: a tombstone that remembers the key and its fingerprint, without a result. */
    EXPIRED(7);

    private final int code;

    State(int code) {
        this.code = code;
    }

    /** The stored code. */
    public int code() {
        return code;
    }

    /**
     * The state with this stored code.
     *
     * @throws IllegalArgumentException if there is none, e.g. because a newer release wrote it
     */
    public static State of(int code) {
        for (State state : values()) {
            if (state.code == code) {
                return state;
            }
        }
        throw new IllegalArgumentException("unknown state code " + code + ": was it written by a newer release?");
    }

    /** Whether an entry in this state may become {@code next}. */
    public boolean canBecome(State next) {
        return successors().contains(next);
    }

    /** Whether a result or failure is recorded that every retry is answered with. */
    public boolean isAnswered() {
        return this == COMPLETED || this == FAILED;
    }

    /** Whether retention runs: the entry may be purged when it is over. */
    public boolean isPurgeable() {
        return isAnswered() || this == RETRYABLE || this == EXPIRED;
    }

    private Set<State> successors() {
        return switch (this) {
            case PENDING -> EnumSet.of(PROCESSING, FAILED);
            case PROCESSING -> EnumSet.of(COMPLETED, FAILED, RETRYABLE, UNKNOWN);
            case RETRYABLE -> EnumSet.of(PROCESSING);
            case UNKNOWN -> EnumSet.of(COMPLETED, RETRYABLE);
            case COMPLETED, FAILED -> EnumSet.of(EXPIRED);
            case EXPIRED -> EnumSet.noneOf(State.class);
        };
    }
}
