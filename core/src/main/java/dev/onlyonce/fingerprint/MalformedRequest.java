package dev.onlyonce.fingerprint;

import java.io.Serial;

/**
 * A request that cannot be fingerprinted, so that nothing is claimed and nothing runs. The message says what is wrong and
 * where (line and column of the body) and never repeats any part of the request, so that it may be shown and logged.
 *
 * <p>Answer 413 if {@link #tooLarge()}, else 400.
 */
public final class MalformedRequest extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Why the request was refused. */
    public enum Reason {
        /** The body says that it is JSON and is not. */
        MALFORMED_JSON,
        /** The JSON body is not valid UTF-8. */
        MALFORMED_UTF8,
        /** The form body has a percent sign that is not followed by two hexadecimal digits. */
        MALFORMED_FORM,
        /** A JSON object has the same member twice: receivers differ in which one they take. */
        DUPLICATE_MEMBER,
        /** A text holds half of a surrogate pair, which no encoding can carry. */
        LONE_SURROGATE,
        /** JSON arrays and objects are nested too deeply. */
        TOO_DEEP,
        /** A JSON number has too many characters. */
        NUMBER_TOO_LONG,
        /** A JSON number is too large or too close to zero. */
        EXPONENT_TOO_LARGE,
        /** The body has too many bytes. */
        BODY_TOO_LARGE
    }

    private final Reason reason;

    /** For code that makes fingerprints; {@code message} must not repeat any part of the request. */
    public MalformedRequest(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Why the request was refused. */
    public Reason reason() {
        return reason;
    }

    /** Whether the request is refused for its size (413) rather than for its form (400). */
    public boolean tooLarge() {
        return reason == Reason.BODY_TOO_LARGE;
    }
}
