package dev.onlyonce.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** How refusals are written. */
public enum ErrorFormat {
    /** {@code application/problem+json}, RFC 9457. */
    PROBLEM_JSON {
        @Override
        HttpAnswer write(Problem.Report report, int status) {
            Problem problem = report.problem();
            Map<String, Object> members = new LinkedHashMap<>();
            members.put("type", problem.type());
            members.put("title", problem.title());
            members.put("status", status);
            if (report.detail() != null) {
                members.put("detail", report.detail());
            }
            members.put("code", problem.code());
            members.putAll(report.members());
            return new HttpAnswer(status, headers(report, "application/problem+json"), json(members));
        }
    },

    /** The error object of Stripe's API, which its client libraries understand. */
    STRIPE {
        @Override
        HttpAnswer write(Problem.Report report, int status) {
            Problem problem = report.problem();
            Map<String, Object> error = new LinkedHashMap<>();
            error.put("type", stripeType(problem));
            error.put("code", problem == Problem.IN_PROGRESS ? "idempotency_key_in_use" : problem.code());
            error.put(
                    "message",
                    report.detail() == null ? problem.title() + "." : problem.title() + ": " + report.detail() + ".");
            error.put("doc_url", problem.type());
            error.putAll(report.members());
            return new HttpAnswer(status, headers(report, "application/json"), json(Map.of("error", error)));
        }
    };

    private static final ObjectWriter JSON = new ObjectMapper().writer();

    /** The whole answer. */
    abstract HttpAnswer write(Problem.Report report, int status);

    private static String stripeType(Problem problem) {
        return switch (problem) {
            case KEY_REUSED,
                    IN_PROGRESS,
                    OUTCOME_UNKNOWN,
                    RESPONSE_NOT_STORED,
                    KEY_EXPIRED,
                    KEY_MISSING,
                    KEY_MALFORMED,
                    KEY_FORMAT,
                    KEY_PERSONAL -> "idempotency_error";
            case OPERATION_FAILED,
                    HANDLER_FAILED,
                    UPSTREAM_UNREACHABLE,
                    STORE_UNAVAILABLE,
                    NOT_RECORDED,
                    PENDING_EXPIRED -> "api_error";
            case REQUEST_MALFORMED,
                    BODY_TOO_LARGE,
                    TIMESTAMP_MISSING,
                    TIMESTAMP_REJECTED,
                    REPEATABILITY_UNSUPPORTED,
                    AUTHENTICATION_REQUIRED,
                    SIGNATURE_INVALID,
                    MESSAGE_ID_INVALID,
                    MESSAGE_CHANGED,
                    TOO_MANY_KEYS,
                    TOO_MANY_LIVE,
                    TOO_MANY_STORED,
                    TOO_MANY_LOOKUPS,
                    KEY_UNKNOWN,
                    OPERATION_UNKNOWN -> "invalid_request_error";
        };
    }

    private static Headers headers(Problem.Report report, String contentType) {
        Headers headers = Headers.of("Content-Type", contentType, "Cache-Control", "no-store");
        if (report.retryAfter() != null) {
            headers = headers.plus("Retry-After", seconds(report.retryAfter()));
        }
        for (Headers.Field field : report.headers().fields()) {
            headers = headers.plus(field.name(), field.value());
        }
        return headers;
    }

    /** Whole seconds, rounded up, at least 1: what {@code Retry-After} takes, and never a busy loop. */
    static String seconds(Duration duration) {
        long seconds = duration.getSeconds() + (duration.getNano() > 0 ? 1 : 0);
        return Long.toString(Math.max(1, seconds));
    }

    static byte[] json(Map<String, ?> members) {
        try {
            return JSON.writeValueAsBytes(members);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts, numbers, lists and maps can be written as JSON", e);
        }
    }
}
