package dev.onlyonce.client;

/** The journal cannot be read or written. If a call throws it, nothing was sent. */
public final class JournalException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** With what to do in the message. */
    public JournalException(String message) {
        super(message);
    }

    /** With the trouble behind it. */
    public JournalException(String message, Throwable cause) {
        super(message, cause);
    }
}
