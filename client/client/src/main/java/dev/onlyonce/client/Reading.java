package dev.onlyonce.client;

import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The meaning of an answer: the only place that decides it. Codes of problems count first, then statuses.
 *
 * @param kind what to do
 * @param inDoubt whether this attempt may have had an effect that the answer does not tell of
 * @param why in a few words
 */
record Reading(Kind kind, boolean inDoubt, String why) {
    /** Log in first, slow down: nothing was executed, and a later attempt may be answered otherwise. */
    private static final Set<Integer> CREDENTIALS = Set.of(401, 403, 407);

    /** Nothing was executed, and it can be tried again. */
    private static final Set<String> NOT_EXECUTED = Set.of(
            "store_unavailable",
            "upstream_unreachable",
            "upstream_busy",
            "too_many_keys",
            "too_many_live",
            "too_many_stored",
            "too_many_lookups");

    /**
     * Answers of routers, proxies and front ends that refuse a request before anybody looks at its key, unless they are marked as
     * replayed. A 404 is also what a proxy says while its service is being deployed.
     */
    private static final Set<Integer> BEFORE_THE_KEY =
            Set.of(404, 405, 411, 413, 414, 415, 417, 421, 426, 428, 431, 451);

    private static final String PROBLEM = "problem+json";

    private static final int FINAL_FROM = 200;
    private static final int REDIRECTS_FROM = 300;
    private static final int REFUSALS_FROM = 400;
    private static final int ERRORS_FROM = 500;

    /** What to do about an answer. */
    enum Kind {
        /** It took effect. */
        DONE,
        /** Definitive: the server has looked the key up. */
        REFUSED,
        /** Definitive if nothing else was sent. After an attempt in doubt, a server that knows the key marks it when asked again. */
        REFUSED_UNMARKED,
        /** Refused before anything was executed; says nothing about an earlier attempt. */
        REFUSED_NOW,
        /** Another page has the answer, or wants a log-in. */
        ELSEWHERE,
        /** Send to another place. */
        REDIRECT,
        /** It is being executed: wait and ask again. */
        RUNNING,
        /** A conflict of the business, or, if it was sent before, a request that is running: the IETF's draft says 409 for it. */
        CONFLICT,
        /** Nobody knows yet: ask for the status, then again. */
        UNKNOWN,
        /** It failed in a way that another attempt may mend. */
        AGAIN,
        /** A bug. */
        KEY_REUSED,
        /** The server no longer knows. */
        KEY_EXPIRED,
        /** An error that the server will always answer. */
        RECORDED_ERROR
    }

    /** Reads an answer. */
    static Reading of(CallResponse response, RetryPolicy.Server server) {
        int status = response.status();
        boolean hasRetryAfter = response.header("Retry-After").isPresent();
        if (status < FINAL_FROM) {
            // The JDK's client takes 102 and 103 for the answer in some releases; the real one is lost.
            return new Reading(Kind.AGAIN, true, "interim answer, outcome not known");
        }
        if (status < REDIRECTS_FROM) {
            boolean running = status == 202 && hasRetryAfter && !server.acceptedIsDone();
            return running
                    ? new Reading(Kind.RUNNING, true, "accepted, not done yet")
                    : new Reading(Kind.DONE, false, "done");
        }
        if (status < REFUSALS_FROM) {
            return redirect(status);
        }
        String type = response.header("Content-Type").orElse("");
        JsonMembers json = JsonMembers.of(type.contains("json") ? response.body() : new byte[0]);
        Optional<String> code = json.get("code").or(() -> json.get("error.code"));
        // The words are common: an API of its own may call anything "operation_failed".
        boolean isOurs = type.contains(PROBLEM) || json.get("error.code").isPresent();
        Reading known = isOurs ? code.map(it -> coded(it, response, json)).orElse(null) : null;
        if (known != null) {
            return known;
        }
        if (status == 400 && json.get("error.type").orElse("").equals("idempotency_error")) {
            return new Reading(Kind.KEY_REUSED, false, "idempotency_error");
        }
        return plain(response, hasRetryAfter, code.map(it -> ", " + it).orElse(""));
    }

    /** By a code of ours, or of Stripe's; null if it is neither. */
    private static @Nullable Reading coded(String code, CallResponse response, JsonMembers json) {
        if (NOT_EXECUTED.contains(code)) {
            return new Reading(Kind.AGAIN, false, code + ", not executed");
        }
        return switch (code) {
            case "in_progress", "idempotency_key_in_use" -> new Reading(Kind.RUNNING, true, code);
            case "outcome_unknown" -> new Reading(Kind.UNKNOWN, true, code);
            case "not_recorded" -> new Reading(Kind.AGAIN, true, code);
            case "key_reused" -> new Reading(Kind.KEY_REUSED, false, code);
            case "key_expired" -> new Reading(Kind.KEY_EXPIRED, true, code);
            case "response_not_stored" ->
                notStored(
                        code,
                        json.get("originalStatus")
                                .or(() -> json.get("error.originalStatus"))
                                .orElse(""));
            case "pending_expired", "operation_failed" ->
                isProblem(response)
                                || (isReplayed(response)
                                        && json.get("error.doc_url").isPresent())
                        ? new Reading(Kind.REFUSED, false, code)
                        : null;
            case "handler_failed" -> isReplayed(response) ? recordedError(code) : new Reading(Kind.AGAIN, true, code);
            default -> null;
        };
    }

    private static Reading notStored(String code, String originalStatus) {
        if (originalStatus.isEmpty() || originalStatus.matches("2\\d\\d")) {
            return new Reading(Kind.DONE, false, code);
        }
        return originalStatus.matches("4\\d\\d") ? new Reading(Kind.REFUSED, false, code) : recordedError(code);
    }

    private static Reading plain(CallResponse response, boolean hasRetryAfter, String code) {
        int status = response.status();
        if (status >= ERRORS_FROM) {
            return isReplayed(response)
                    ? recordedError("server error" + code)
                    : new Reading(Kind.AGAIN, true, "server error" + code);
        }
        if (CREDENTIALS.contains(status)) {
            return new Reading(Kind.REFUSED_NOW, false, "not authorized" + code);
        }
        if (BEFORE_THE_KEY.contains(status) && !isReplayed(response)) {
            return new Reading(Kind.REFUSED_NOW, false, "refused" + code);
        }
        return switch (status) {
            // A time-out is doubt whatever status is answered for it.
            case 408 -> new Reading(Kind.AGAIN, true, "time-out at the server" + code);
            case 425, 429 -> new Reading(Kind.AGAIN, false, "slow down" + code);
            case 409 ->
                hasRetryAfter
                        ? new Reading(Kind.RUNNING, true, "conflict, to be retried" + code)
                        : new Reading(isReplayed(response) ? Kind.REFUSED : Kind.CONFLICT, false, "conflict" + code);
            default ->
                new Reading(isReplayed(response) ? Kind.REFUSED : Kind.REFUSED_UNMARKED, false, "refused" + code);
        };
    }

    private static Reading redirect(int status) {
        return switch (status) {
            case 307, 308 -> new Reading(Kind.REDIRECT, false, "redirect");
            // A form that was taken is answered so, and a session that has ended.
            default -> new Reading(Kind.ELSEWHERE, true, "redirect that would change the method, not followed");
        };
    }

    private static Reading recordedError(String why) {
        return new Reading(Kind.RECORDED_ERROR, true, why + ", recorded");
    }

    /** Whether it says that the call took effect. Of an answer that is recorded, also a 202 that the policy took for it. */
    boolean isDone() {
        return kind == Kind.DONE || kind == Kind.RUNNING;
    }

    /** Whether an answer that is recorded is the end of its call. */
    boolean isRefusedForGood() {
        return kind == Kind.REFUSED || kind == Kind.REFUSED_UNMARKED || kind == Kind.CONFLICT;
    }

    private static boolean isProblem(CallResponse response) {
        return response.header("Content-Type").orElse("").contains(PROBLEM);
    }

    static boolean isReplayed(CallResponse response) {
        return response.header("Idempotent-Replayed").orElse("false").equalsIgnoreCase("true");
    }
}
