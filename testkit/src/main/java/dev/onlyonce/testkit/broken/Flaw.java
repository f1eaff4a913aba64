package dev.onlyonce.testkit.broken;

import dev.onlyonce.check.Check;

/** What is wrong with a {@link FlawedServer}: mistakes as they are made in practice, one for each check at least. */
public enum Flaw {
    /** Replays lose their Location. */
    REPLAY(Check.REPLAY),
    /** Replays do not say that they are. */
    MARKED(Check.MARKED),
    /** Nobody learns when a key expires. */
    EXPIRES(Check.EXPIRES),
    /** The cookie of the first caller is stored. */
    SET_COOKIE(Check.SET_COOKIE),
    /** The date of the first answer is stored. */
    DATE(Check.DATE),
    /** Of many requests at once several find no claim. */
    RACE(Check.RACE),
    /** One key of five is claimed without the unique index. */
    RACE_SOMETIMES(Check.RACE),
    /** When many requests come at once, their claims are not atomic. */
    RACE_UNDER_LOAD(Check.RACE),
    /** A duplicate is not told when to come back. */
    LOSERS(Check.LOSERS),
    /** Bodies are not compared once the first request has ended. */
    OTHER_BODY(Check.OTHER_BODY),
    /** Amounts are not compared. */
    BODY_AMOUNT(Check.OTHER_BODY),
    /** Numbers are compared as integers. */
    BODY_ROUNDED(Check.OTHER_BODY),
    /** Only the members of the outer object are compared. */
    BODY_FLAT(Check.OTHER_BODY),
    /** Queries are not compared. */
    OTHER_QUERY(Check.OTHER_QUERY),
    /** Paths are not compared. */
    OTHER_PATH(Check.OTHER_PATH),
    /** Methods are not compared. */
    OTHER_METHOD(Check.OTHER_METHOD),
    /** Whoever comes while a request runs waits for its answer, whatever it asked for. */
    WHILE_RUNNING(Check.WHILE_RUNNING),
    /** Bodies are compared byte by byte. */
    RESERIALISED(Check.RESERIALISED),
    /** Quotation marks are part of the key. */
    KEY_QUOTED(Check.KEY_QUOTED),
    /** The empty string is a key like any other. */
    KEY_EMPTY(Check.KEY_EMPTY),
    /** The column folds case. */
    KEY_FOLDED(Check.KEY_DISTINCT),
    /** Repeated punctuation is squeezed. */
    KEY_SQUEEZED(Check.KEY_DISTINCT),
    /** Spaces around a key are cut off. */
    KEY_TRIMMED(Check.KEY_DISTINCT),
    /** Keys are cut to 256 characters. */
    KEY_TRUNCATED(Check.KEY_LONG),
    /** Keys are cut to 64 characters. */
    KEY_255(Check.KEY_255),
    /** The column is too short, and the exception is a 500. */
    KEY_256(Check.KEY_256),
    /** Control characters are taken. */
    KEY_CONTROL(Check.KEY_CONTROL),
    /** The first of several keys counts. */
    KEY_TWO_LINES(Check.KEY_TWO_LINES),
    /** All requests without a key share one. */
    KEY_MISSING(Check.KEY_MISSING),
    /** Keys are global. */
    OTHER_TENANT(Check.OTHER_TENANT),
    /** Nothing is recorded, and nothing released, if nobody waits for the answer. */
    HANG_UP(Check.HANG_UP),
    /** The key is looked up when the head arrives, and not again after a slow body. */
    SLOW_REQUEST(Check.SLOW_REQUEST),
    /** The key is claimed when the head arrives, and never released if the body does not. */
    HALF_SENT(Check.HALF_SENT),
    /** A refusal leaves the claim behind. */
    CLIENT_ERROR(Check.CLIENT_ERROR),
    /** A failure leaves the claim behind. */
    SERVER_ERROR(Check.SERVER_ERROR),
    /** A failure leaves the claim behind, and duplicates are asked to come again for all time. */
    STUCK_AFTER_FAILURE(Check.SERVER_ERROR),
    /** The effect happens before the failure, each time. */
    EFFECT_BEFORE_FAILURE(Check.FAILURE_EFFECTS),
    /** The effect happens although the answer is a refusal, each time. */
    EFFECT_BEFORE_REFUSAL(Check.FAILURE_EFFECTS),
    /** Every change needs a key. */
    NO_KEY_METHODS(Check.NO_KEY_METHODS),
    /** The key is claimed before the length is looked at. */
    TOO_LARGE(Check.TOO_LARGE),
    /** The key is claimed before the type is looked at. */
    UNSUPPORTED_TYPE(Check.UNSUPPORTED_TYPE),
    /** A body without Content-Length is no body. */
    CHUNKED(Check.CHUNKED),
    /** A proxy in front strips the key if the client calls it hop-by-hop, and what has no key runs. */
    HOP_BY_HOP(Check.HOP_BY_HOP),
    /** Keys live for five seconds. */
    FORGETS_SOON(Check.REMEMBERED),
    /** Twelve keys are remembered. */
    FORGETS_OTHERS(Check.REMEMBERED),
    /** A retry has an effect too, a while later. */
    LATE_EFFECT(Check.LATE_EFFECT);

    private final Check check;

    Flaw(Check check) {
        this.check = check;
    }

    /** The check that finds it. */
    public Check check() {
        return check;
    }
}
