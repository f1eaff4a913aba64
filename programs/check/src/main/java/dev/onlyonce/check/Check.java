package dev.onlyonce.check;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** One check, and what the IETF draft (revision 07), Stripe's documentation and Onlyonce require. */
@SuppressWarnings("ImmutableEnumChecker") // lists that nobody can change
public enum Check {
    /** A retry gets the first answer. */
    REPLAY(
            Weight.SAFETY,
            "A retry gets the first answer and has no second effect",
            "2.6: answer with the result of the completed request",
            "same status and body",
            "same status, stored headers and bytes"),
    /** A replay says that it is one. */
    MARKED(
            Weight.COURTESY,
            "A replay says that it is one",
            "",
            "Idempotent-Replayed: true",
            "Idempotent-Replayed: true",
            Standard.STRIPE),
    /** The expiry is published. */
    EXPIRES(
            Weight.COURTESY,
            "The answer says when its key expires",
            "2.3: publish the expiration policy",
            "24 hours, documented",
            "Idempotency-Key-Expires on every protected answer"),
    /** Cookies are for the first caller. */
    SET_COOKIE(
            Weight.CONTRACT,
            "A replay does not set the first answer's cookie again",
            "",
            "",
            "Set-Cookie is never stored"),
    /** The date of a replay is its own. */
    DATE(Weight.CONTRACT, "A replay has a Date of its own", "", "", "Date is never stored"),
    /** One effect for requests at once. */
    RACE(
            Weight.SAFETY,
            "Of simultaneous first requests with one key one has an effect, also under load",
            "2.6: a concurrent request does not run",
            "one of them runs",
            "one of them runs"),
    /** What the others get. */
    LOSERS(
            Weight.CONTRACT,
            "Simultaneous duplicates wait, or get 409 or 202 (strict: with Retry-After)",
            "2.7: 409",
            "409",
            "409 or 202 with Retry-After, or the answer",
            Standard.IETF,
            Standard.STRIPE),
    /** Another body. */
    OTHER_BODY(Weight.SAFETY, "The same key with another body is refused", "2.7: 422", "400", "422 (400 in stripe)"),
    /** Another query. */
    OTHER_QUERY(
            Weight.CONTRACT,
            "The same key with another query is refused",
            "",
            "400",
            "422 (400 in stripe)",
            Standard.STRIPE),
    /** Another path. */
    OTHER_PATH(
            Weight.CONTRACT,
            "The same key on another endpoint is refused",
            "2.2: every request has a key of its own",
            "400",
            "422 (400 in stripe)",
            Standard.STRIPE),
    /** Another method. */
    OTHER_METHOD(
            Weight.CONTRACT,
            "The same key with PATCH is refused",
            "2.2: every request has a key of its own",
            "400",
            "422 (400 in stripe)",
            Standard.STRIPE),
    /** Another body at the same time. */
    WHILE_RUNNING(
            Weight.SAFETY,
            "Two bodies with one key at the same time: one runs, the other is refused",
            "2.7: 409 or 422",
            "400 or 409",
            "422 in every state"),
    /** The same JSON, written in another way. */
    RESERIALISED(
            Weight.COURTESY,
            "The same JSON with other member order and white space is the same request",
            "2.4: the fingerprint is the server's choice",
            "compares parameters",
            "compares canonical JSON (RFC 8785)",
            Standard.STRIPE),
    /** Quoted and bare keys. */
    KEY_QUOTED(
            Weight.COURTESY,
            "A quoted and a bare key are one key",
            "2.1: a structured-field string, in quotes",
            "bare",
            "both, as one key"),
    /** An empty key. */
    KEY_EMPTY(Weight.CONTRACT, "An empty key is not a key", "2.1, 2.7: 400", "", "400", Standard.IETF),
    /** A key of 255 characters. */
    KEY_255(
            Weight.SAFETY,
            "Keys of 255 characters that differ in the last one are different keys",
            "",
            "up to 255 characters",
            "up to 255 characters"),
    /** Keys that look alike. */
    KEY_DISTINCT(
            Weight.SAFETY,
            "Keys that differ in case, spaces or punctuation are different keys, or refused",
            "2.2: a key is an opaque string",
            "any string",
            "every character counts"),
    /** Keys that only a long column tells apart. */
    KEY_LONG(
            Weight.SAFETY,
            "Longer keys that differ in the last character are different keys, or refused",
            "",
            "refused",
            "400"),
    /** A key of 256 characters. */
    KEY_256(
            Weight.CONTRACT,
            "A key of 256 characters is refused, or used whole",
            "",
            "refused",
            "400",
            Standard.STRIPE),
    /** A control character in a key. */
    KEY_CONTROL(
            Weight.CONTRACT, "A control character in a key is refused", "2.1: not a string", "", "400", Standard.IETF),
    /** Two key lines. */
    KEY_TWO_LINES(
            Weight.CONTRACT,
            "Two different keys in one request are refused",
            "2.1: one line",
            "",
            "400",
            Standard.IETF),
    /** No key. */
    KEY_MISSING(
            Weight.CONTRACT,
            "A request without a key is refused, or runs unprotected each time",
            "2.7: 400 where a key is required",
            "runs unprotected",
            "400 (runs unprotected in stripe)",
            Standard.IETF,
            Standard.STRIPE),
    /** Another tenant's key. */
    OTHER_TENANT(
            Weight.SAFETY,
            "Another caller with the same key never gets the first caller's answer",
            "5: keys of different clients do not meet",
            "keys belong to an account",
            "keys belong to a tenant"),
    /** A client that hangs up. */
    HANG_UP(
            Weight.SAFETY,
            "After a client hung up, its retry gets an answer and has no second effect",
            "2.6: a retry after completion",
            "the purpose of keys",
            "hanging up does not stop the execution"),
    /** A client that sends slowly. */
    SLOW_REQUEST(
            Weight.SAFETY,
            "A request that arrives slowly and its fast duplicate have one effect",
            "2.6: one of them runs",
            "one of them runs",
            "one of them runs"),
    /** A client that hangs up in the middle of its request. */
    HALF_SENT(
            Weight.CONTRACT,
            "Half a request does not use up its key",
            "",
            "recorded once execution began",
            "nothing is stored before the request is complete",
            Standard.IETF,
            Standard.STRIPE),
    /** Refusals by the application. */
    CLIENT_ERROR(
            Weight.CONTRACT,
            "A refused request (4xx) leaves its key in a definite state",
            "2.6: success or an error",
            "recorded, unless validation failed",
            "recorded; not 401, 403, 408, 425, 429",
            Standard.IETF,
            Standard.STRIPE),
    /** Failures of the application. */
    SERVER_ERROR(
            Weight.CONTRACT,
            "A failed request (5xx) leaves its key in a definite state",
            "2.7: as documented",
            "recorded and replayed",
            "runs again, is recorded, or is in doubt (409 with Retry-After)",
            Standard.IETF,
            Standard.STRIPE),
    /** Effects of requests that fail. */
    FAILURE_EFFECTS(
            Weight.SAFETY,
            "A request that fails (4xx, 5xx) and its retry have one effect at most",
            "2.6: a retry does not run again",
            "the recorded failure is replayed",
            "an effect is never repeated"),
    /** Methods that are idempotent anyway. */
    NO_KEY_METHODS(
            Weight.CONTRACT,
            "PUT and DELETE need no key",
            "1: they are idempotent",
            "only POST takes keys",
            "only POST and PATCH need keys",
            Standard.IETF,
            Standard.STRIPE),
    /** Too large a body. */
    TOO_LARGE(
            Weight.CONTRACT,
            "413 does not use up a key",
            "",
            "recorded once execution began",
            "not recorded",
            Standard.STRIPE),
    /** A type that is not supported. */
    UNSUPPORTED_TYPE(
            Weight.CONTRACT,
            "415 does not use up a key",
            "",
            "recorded once execution began",
            "not recorded",
            Standard.STRIPE),
    /** Chunked bodies. */
    CHUNKED(Weight.SAFETY, "A chunked body is the same request as one with a length", "", "", "the same request"),
    /** A key that {@code Connection} declares hop-by-hop. */
    HOP_BY_HOP(Weight.SAFETY, "Connection: Idempotency-Key does not strip the key", "", "", "the key counts"),
    /** A retry that comes late. */
    REMEMBERED(
            Weight.SAFETY,
            "A key is remembered when other keys and some time have come in between",
            "2.3: until it expires",
            "24 hours",
            "24 hours, unless configured"),
    /** Effects that nobody asked for. */
    LATE_EFFECT(
            Weight.SAFETY,
            "No request has a further effect after all answers",
            "2.6: a retry does not run again",
            "the purpose of keys",
            "one effect for one key"),
    /** HTTP/2. */
    HTTP_2(Weight.SAFETY, "A retry over another HTTP version is the same request", "", "", "the same request");

    /** What a failure means. */
    public enum Weight {
        /** An effect can happen twice or be lost, or somebody gets a wrong answer. */
        SAFETY,
        /** Clients cannot rely on what the API does. */
        CONTRACT,
        /** Clients have to work harder than they need to. */
        COURTESY
    }

    private final Weight weight;
    private final String title;
    private final String ietf;
    private final String stripe;
    private final String onlyonce;
    private final List<Standard> asking;

    Check(Weight weight, String title, String ietf, String stripe, String onlyonce, Standard... asking) {
        this.weight = weight;
        this.asking = List.of(asking);
        this.title = title;
        this.ietf = ietf;
        this.stripe = stripe;
        this.onlyonce = onlyonce;
    }

    /** The check with this id. */
    public static Optional<Check> of(String id) {
        return Arrays.stream(values()).filter(check -> check.id().equals(id)).findFirst();
    }

    /** Its name on the command line and in reports. */
    public String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The promise, as a sentence. */
    public String title() {
        return title;
    }

    /** What its failure means. */
    public Weight weight() {
        return weight;
    }

    /** Whether an API that does not do this fails under a standard. */
    public boolean isAskedBy(Standard standard) {
        return switch (standard) {
            case STRICT -> true;
            case IETF, STRIPE -> weight == Weight.SAFETY || asking.contains(standard);
            case AUTO -> isAskedBy(Standard.IETF) && isAskedBy(Standard.STRIPE);
        };
    }

    /** What draft-ietf-httpapi-idempotency-key-header-07 asks, beginning with the section; empty if nothing. */
    public String ietf() {
        return ietf;
    }

    /** What Stripe documents; empty if nothing. */
    public String stripe() {
        return stripe;
    }

    /** What Onlyonce does. */
    public String onlyonce() {
        return onlyonce;
    }
}
