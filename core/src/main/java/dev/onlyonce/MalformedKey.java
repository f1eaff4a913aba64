package dev.onlyonce;

import java.io.Serial;

/** The client's key breaks the rules. Nothing was stored. The message never contains the key. */
public final class MalformedKey extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** What is wrong with the key. */
    public enum Reason {
        /** No key was sent where one is required. */
        MISSING,
        /** The key has no characters. */
        EMPTY,
        /** The key has more than 255 characters. */
        TOO_LONG,
        /** A character is not visible ASCII. */
        BAD_CHARACTER,
        /** The header was sent more than once, or is a list. */
        SEVERAL,
        /** The header begins as a quoted string and does not end as one. */
        BAD_QUOTING,
        /** The key breaks the format that its operation asks for. */
        BAD_FORMAT,
        /** The key looks like personal data, and such keys are refused. */
        PERSONAL
    }

    private final Reason reason;

    /** A malformed key, why, and what to do about it. */
    public MalformedKey(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** What is wrong with the key. */
    public Reason reason() {
        return reason;
    }
}
