package dev.onlyonce.http;

import dev.onlyonce.Outcome;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The answers to requests for one operation that its handler does not make: replays, refusals, and what a client gets when the
 * store fails. Immutable.
 */
public final class Answers {
    /** A store that recovers is noticed within a second. */
    static final Duration RETRY_AFTER_STORE = Duration.ofSeconds(1);
    /** Every 409 says when to ask again, but this answer will not change. */
    private static final Duration RETRY_AFTER_NOT_STORED = Duration.ofHours(1);

    private static final String SHOULD_RETRY = "Stripe-Should-Retry";
    private static final int CONFLICT = 409;
    private static final int SERVER_ERROR = 500;

    private static final Logger log = LoggerFactory.getLogger(Answers.class);

    private final Operation operation;
    private final Profile profile;
    private final String statusPath;

    /** With the status path as clients must ask for it. */
    Answers(Operation operation, String statusPath) {
        this.operation = operation;
        this.profile = operation.profile();
        this.statusPath = statusPath;
    }

    Operation operation() {
        return operation;
    }

    /** A refusal, written as the profile says. */
    HttpAnswer refusal(Problem.Report report) {
        return profile.refuse(report);
    }

    /** The node is too busy to ask the store: 503. Nothing was executed. */
    public HttpAnswer overloaded() {
        return profile.refuse(Problem.STORE_UNAVAILABLE.report().retryAfter(RETRY_AFTER_STORE));
    }

    /** The body is larger than the operation allows: 413. For callers that stop reading it. */
    public HttpAnswer bodyTooLarge() {
        return profile.refuse(RequestCheck.tooLarge(operation));
    }

    /** The body does not match its content type: 400. For callers that get it parsed. */
    public HttpAnswer bodyUnreadable() {
        return profile.refuse(Problem.REQUEST_MALFORMED.because("the body does not match its content type"));
    }

    /** The store failed before anything was executed: 503. */
    public HttpAnswer storeUnavailable(StoreException failure) {
        log.debug("{} did not run because the store failed", operation.name(), failure);
        return overloaded();
    }

    /** The operation was executed, and the store may or may not have recorded it: 503. */
    public HttpAnswer notRecorded(StoreException failure) {
        log.warn("{} was executed, but nobody knows whether the store recorded it", operation.name(), failure);
        return profile.refuse(Problem.NOT_RECORDED.report().retryAfter(RETRY_AFTER_STORE));
    }

    /** A recorded final failure. */
    HttpAnswer failure(Failure failure) {
        return profile.refuse(
                Problem.OPERATION_FAILED.because(failure.message()).member("failure", failure.code()));
    }

    /** The headers that {@link #own} adds. */
    public static final List<String> ADDED = List.of(StoredHeaders.EXPIRES, Repeatability.RESULT);

    /**
     * The handler's own answer, with what the profile adds to it.
     *
     * @param expiresAt how long it is kept; null if it is not
     */
    public HttpAnswer own(HttpAnswer answer, @Nullable Instant expiresAt) {
        // A refusal in its place says for itself whether the request was taken on.
        HttpAnswer marked = answer.headers().has(Repeatability.RESULT) ? answer : profile.accepted(answer);
        return expiresAt == null ? marked : expiring(marked, expiresAt);
    }

    /** Adds to a recorded answer how long it is kept. */
    private static HttpAnswer expiring(HttpAnswer answer, Instant expiresAt) {
        return answer.header(StoredHeaders.EXPIRES, HttpDate.format(expiresAt));
    }

    /**
     * The answer for an outcome whose value is an encoded {@link StoredResponse}. A record that cannot be read is 503: a newer
     * release may be able to read it.
     */
    public HttpAnswer to(Outcome<byte[]> outcome) {
        try {
            return outcome.fold(new Cases());
        } catch (IllegalStateException e) {
            log.error("A record of {} cannot be read", operation.name(), e);
            return overloaded();
        }
    }

    /**
     * The answer of an application that uses keys of its own within a request: a problem as the profile {@code ietf} has it.
     *
     * @param operation the name of the operation without a value, for messages
     * @throws IllegalArgumentException if the outcome has a value
     */
    public static HttpAnswer refusal(String operation, Outcome<?> outcome) {
        if (outcome instanceof Outcome.Executed || outcome instanceof Outcome.Replayed) {
            throw new IllegalArgumentException(operation + " has a value: " + outcome);
        }
        if (outcome instanceof Outcome.InFlight<?> inFlight) {
            return Profile.ietf().refuse(Problem.IN_PROGRESS.report().retryAfter(inFlight.retryAfter()));
        }
        Operation own = Operation.builder("POST", "/").name(operation).build();
        return new Answers(own, Boundary.STATUS_PATH).first(outcome.map(value -> new byte[0]));
    }

    /** The answer to the request that was executed: as to its retries, but not marked as a replay. */
    public HttpAnswer first(Outcome<byte[]> outcome) {
        HttpAnswer answer = to(outcome);
        return new HttpAnswer(
                answer.status(),
                answer.headers().only(field -> !field.name().equalsIgnoreCase(StoredHeaders.REPLAYED)),
                answer.body());
    }

    private final class Cases implements Outcome.Cases<byte[], HttpAnswer> {
        @Override
        public HttpAnswer executed(Outcome.Executed<byte[]> executed) {
            return recorded(executed.value(), executed.expiresAt());
        }

        @Override
        public HttpAnswer replayed(Outcome.Replayed<byte[]> replayed) {
            return markedReplayed(unchanging(recorded(replayed.value(), replayed.expiresAt())));
        }

        @Override
        public HttpAnswer failed(Outcome.Failed<byte[]> failed) {
            HttpAnswer answer = switch (failed.failure().code()) {
                case Failure.RESULT_NOT_STORED -> notStored(Optional.empty());
                case Failure.PENDING_EXPIRED -> profile.refuse(Problem.PENDING_EXPIRED.report());
                default -> failure(failed.failure());
            };
            return markedReplayed(unchanging(expiring(answer, failed.expiresAt())));
        }

        @Override
        public HttpAnswer inFlight(Outcome.InFlight<byte[]> inFlight) {
            return !inFlight.pending() && profile.whenRunning() == WhenRunning.CONFLICT
                    ? profile.refuse(Problem.IN_PROGRESS.report().retryAfter(inFlight.retryAfter()))
                    : accepted(inFlight);
        }

        @Override
        public HttpAnswer mismatched(Outcome.Mismatched<byte[]> mismatched) {
            return profile.refuse(Problem.KEY_REUSED.because(
                    mismatched.reason() == Outcome.Mismatched.Reason.OPERATION
                            ? "it was used for another operation"
                            : "the method, path, query, body or caller differ from those of the first request"));
        }

        @Override
        public HttpAnswer unknown(Outcome.Unknown<byte[]> unknown) {
            // Reconciling takes longer than Stripe's clients go on by themselves.
            return unchanging(profile.refuse(Problem.OUTCOME_UNKNOWN.report().retryAfter(unknown.retryAfter())));
        }

        @Override
        public HttpAnswer expired(Outcome.Expired<byte[]> expired) {
            return profile.refuse(Problem.KEY_EXPIRED.report());
        }
    }

    private HttpAnswer recorded(byte[] record, Instant expiresAt) {
        Optional<StoredResponse> stored = StoredResponse.decode(record);
        if (stored.isEmpty() || stored.get().body().isEmpty()) {
            return expiring(notStored(stored), expiresAt);
        }
        StoredResponse response = stored.get();
        return own(
                new HttpAnswer(
                        response.status(), response.headers(), response.body().get()),
                expiresAt);
    }

    private HttpAnswer notStored(Optional<StoredResponse> stored) {
        Problem.Report report = Problem.RESPONSE_NOT_STORED.report().retryAfter(RETRY_AFTER_NOT_STORED);
        if (stored.isPresent()) {
            report = report.member("originalStatus", stored.get().status());
            Optional<String> location = stored.get().headers().first("Location");
            report = location.isPresent() ? report.header("Location", location.get()) : report;
        }
        return profile.refuse(report);
    }

    /** Tells Stripe's client libraries, which repeat every 409 and 5xx for a while, that a retry gets the same answer. */
    private HttpAnswer unchanging(HttpAnswer answer) {
        boolean repeated = answer.status() == CONFLICT || answer.status() >= SERVER_ERROR;
        return profile.errors() == ErrorFormat.STRIPE && repeated ? answer.header(SHOULD_RETRY, "false") : answer;
    }

    private static HttpAnswer markedReplayed(HttpAnswer answer) {
        return answer.header(StoredHeaders.REPLAYED, "true");
    }

    private HttpAnswer accepted(Outcome.InFlight<byte[]> inFlight) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("operation", operation.name());
        body.put("state", inFlight.pending() ? "pending" : "processing");
        String seconds = ErrorFormat.seconds(inFlight.retryAfter());
        // The client sends the key in a header when it asks: addresses end up in logs.
        String location = statusPath + "?operation=" + PercentCoding.encode(operation.name());
        return profile.accepted(new HttpAnswer(
                202,
                Headers.of(
                        "Content-Type",
                        "application/json",
                        "Cache-Control",
                        "no-store",
                        "Retry-After",
                        seconds,
                        "Location",
                        location),
                ErrorFormat.json(body)));
    }
}
