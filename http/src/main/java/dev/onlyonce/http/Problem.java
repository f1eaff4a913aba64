package dev.onlyonce.http;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Every refusal that a client can get, with its stable code. The status is what the profile {@code ietf} says; profiles may
 * say otherwise. {@code docs/reference/problems.md} explains each.
 */
public enum Problem {
    /** No key was sent where one is required. */
    KEY_MISSING(400, "An Idempotency-Key is required"),
    /** The key is empty, too long, has characters that it may not have, or was sent twice. */
    KEY_MALFORMED(400, "The Idempotency-Key is malformed"),
    /** The key breaks the format that the operation asks for. */
    KEY_FORMAT(400, "The Idempotency-Key does not have the format that this operation asks for"),
    /** The key looks like personal data. */
    KEY_PERSONAL(400, "The Idempotency-Key looks like personal data"),
    /** The request's body is ambiguous or is not what its content type says. */
    REQUEST_MALFORMED(400, "The request's body cannot be read"),
    /** The request's body is larger than the operation takes. */
    BODY_TOO_LARGE(413, "The request's body is too large"),
    /** The request does not say when it was made. */
    TIMESTAMP_MISSING(400, "The request does not say when it was made"),
    /** The request was made too long ago, or in the future. */
    TIMESTAMP_REJECTED(400, "The request's time is not accepted"),
    /** The client relies on OASIS Repeatable Requests, which this operation does not follow. */
    REPEATABILITY_UNSUPPORTED(501, "Repeatable requests are not supported by this operation"),
    /** Nobody is authenticated, so nobody owns the key. */
    AUTHENTICATION_REQUIRED(401, "Authentication is required"),
    /** A webhook is not signed, not by its sender, or not in time. */
    SIGNATURE_INVALID(401, "The signature is not valid"),
    /** A webhook has no id, or one that cannot be remembered. */
    MESSAGE_ID_INVALID(400, "The message has no id that can be remembered"),
    /** A webhook with this id and other content was applied before. */
    MESSAGE_CHANGED(422, "A message with this id and other content was applied before"),
    /** The key was used for another request. */
    KEY_REUSED(422, "The Idempotency-Key was used for another request"),
    /** Another request with this key is being executed. */
    IN_PROGRESS(409, "A request with this Idempotency-Key is being executed"),
    /** Nobody knows yet whether the request took effect. */
    OUTCOME_UNKNOWN(409, "The outcome of this request is not known yet"),
    /** The request was executed, but its response was too large to store. */
    RESPONSE_NOT_STORED(409, "The request was executed; its response was not stored"),
    /** The key is past its retention. */
    KEY_EXPIRED(410, "The Idempotency-Key has expired"),
    /** The request was accepted and nobody took it in time. */
    PENDING_EXPIRED(408, "The request was accepted but not executed in time"),
    /** The request failed for good. */
    OPERATION_FAILED(500, "The request failed"),
    /** The handler failed. */
    HANDLER_FAILED(500, "The request could not be handled"),
    /** The service behind could not be reached: nothing was executed. */
    UPSTREAM_UNREACHABLE(502, "The service could not be reached; nothing was executed"),
    /** The store cannot answer, so nothing was executed. */
    STORE_UNAVAILABLE(503, "Requests cannot be recorded now; nothing was executed"),
    /** The request was executed, but its outcome could not be recorded in time. */
    NOT_RECORDED(503, "The outcome could not be recorded in time"),
    /** The tenant uses new keys too fast. */
    TOO_MANY_KEYS(429, "Too many new Idempotency-Keys"),
    /** The tenant has too many requests under way. */
    TOO_MANY_LIVE(429, "Too many requests are being executed"),
    /** The tenant has too many keys in the store. */
    TOO_MANY_STORED(429, "Too many Idempotency-Keys are stored"),
    /** The caller asks for the status of keys too often. */
    TOO_MANY_LOOKUPS(429, "Too many status requests"),
    /** The status resource knows no such key of this caller. */
    KEY_UNKNOWN(404, "There is no such Idempotency-Key"),
    /** The status resource knows no such operation. */
    OPERATION_UNKNOWN(404, "There is no such operation");

    /** Where the codes are explained. */
    public static final String DOCUMENTATION = "https://onlyonce.dev/reference/problems";

    private final int status;
    private final String title;

    Problem(int status, String title) {
        this.status = status;
        this.title = title;
    }

    /** The stable code, for programs. */
    public String code() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The status in the profile {@code ietf}. */
    public int status() {
        return status;
    }

    /** What it is, for people; always the same. */
    public String title() {
        return title;
    }

    /** The {@code type} of the problem details: a link to its explanation. */
    public String type() {
        return DOCUMENTATION + "#" + code();
    }

    /** What to do about this one. */
    Report because(@Nullable String detail) {
        return new Report(this, detail, null, Map.of(), Headers.none());
    }

    /** One occurrence. */
    Report report() {
        return because(null);
    }

    /**
     * One occurrence of a problem.
     *
     * @param detail what is special about this one; never contains the key
     * @param retryAfter when to ask again
     * @param members more for programs
     * @param headers more header lines
     */
    record Report(
            Problem problem,
            @Nullable String detail,
            @Nullable Duration retryAfter,
            Map<String, Object> members,
            Headers headers) {

        Report retryAfter(Duration after) {
            return new Report(problem, detail, after, members, headers);
        }

        Report member(String name, Object value) {
            return new Report(problem, detail, retryAfter, Map.of(name, value), headers);
        }

        Report header(String name, String value) {
            return new Report(problem, detail, retryAfter, members, headers.plus(name, value));
        }
    }
}
