package dev.onlyonce.messages;

import java.util.Locale;

/** Why a message was given up. */
public enum DeadLetterReason {
    /** No configured source found an id. */
    MISSING_ID,
    /** The id is too long, or has characters that are not visible ASCII. */
    MALFORMED_ID,
    /** The body is larger than allowed. */
    TOO_LARGE,
    /** The body or a header that is needed cannot be decoded. */
    UNDECODABLE,
    /** A message with the same id and another body was applied before. */
    MISMATCH,
    /** The handler rejected it for good. */
    REJECTED,
    /** It failed in every try. */
    TRIES_EXHAUSTED,
    /** Its transactional handler did not return, not even when it was interrupted and its connection was cut. Nothing of it stays. */
    HANDLER_HUNG,
    /**
     * Whether its effect outside the database happened is unknown. Its entry waits for the reconciler or an operator. If they find that
     * nothing happened, the message has to be sent again; sending it again is always safe.
     */
    OUTCOME_UNKNOWN;

    /** As it is written in headers and metrics. */
    public String code() {
        return name().toLowerCase(Locale.ROOT);
    }
}
