package dev.onlyonce.http;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * How an operation behaves towards its clients: one setting for each row of the table in the documentation. Start from {@link
 * #ietf}, {@link #stripe}, {@link #strict} or {@link #oasis} and change some settings with {@link #toBuilder}. Immutable.
 */
public final class Profile {
    /** Given before the request is processed: log in first, ask somebody else, send it again or in another format, slow down. */
    private static final Set<Integer> BEFORE_PROCESSING = Set.of(401, 403, 408, 415, 425, 429);
    /** What a proxy answers when it does not know the outcome. */
    private static final Set<Integer> IN_DOUBT = Set.of(502, 504);

    private static final int SERVER_ERROR = 500;

    private static final Profile IETF =
            new Builder("ietf").neverStored(BEFORE_PROCESSING).build();
    private static final Profile STRIPE = new Builder("stripe")
            .keyRequired(false)
            .onServerError(OnServerError.STORE)
            .tombstones(false)
            .status(Problem.KEY_REUSED, 400)
            .errors(ErrorFormat.STRIPE)
            .build();
    private static final Profile STRICT = new Builder("strict")
            .neverStored(BEFORE_PROCESSING)
            .onServerError(OnServerError.UNKNOWN)
            .build();

    private static final Profile OASIS = new Builder("oasis")
            .neverStored(BEFORE_PROCESSING)
            .status(Problem.KEY_REUSED, 400)
            .status(Problem.TIMESTAMP_REJECTED, 412)
            .oasis()
            .build();

    /** What a response, or the lack of one, makes of the entry. */
    public enum Meaning {
        /** It is the outcome: stored, and every retry gets it. */
        STORED,
        /** No effect happened: the next retry runs again. */
        RETRYABLE,
        /** Nobody knows: reconciled. */
        UNKNOWN
    }

    private final String name;
    private final boolean keyRequired;
    private final WhenRunning whenRunning;
    private final Set<Integer> neverStored;
    private final OnServerError onServerError;
    private final boolean tombstones;
    private final Map<Problem, Integer> statuses;
    private final ErrorFormat errors;
    private final boolean oasis;

    private Profile(Builder builder) {
        name = builder.name;
        keyRequired = builder.keyRequired;
        whenRunning = builder.whenRunning;
        neverStored = Set.copyOf(builder.neverStored);
        onServerError = builder.onServerError;
        tombstones = builder.tombstones;
        statuses = Map.copyOf(builder.statuses);
        errors = builder.errors;
        oasis = builder.oasis;
    }

    /** As the IETF's draft says. The default. */
    public static Profile ietf() {
        return IETF;
    }

    /** As Stripe's API behaves: keys are optional, and whatever the handler answered is the answer. */
    public static Profile stripe() {
        return STRIPE;
    }

    /** Never guesses: a failed handler leaves the outcome unknown until it is reconciled. */
    public static Profile strict() {
        return STRICT;
    }

    /**
     * As OASIS Repeatable Requests 1.0 says: the key is {@code Repeatability-Request-ID}, {@code Repeatability-First-Sent} says when the
     * request was made, and every answer says in {@code Repeatability-Result} whether it was taken on.
     */
    public static Profile oasis() {
        return OASIS;
    }

    /**
     * By name.
     *
     * @throws IllegalArgumentException if there is none with this name
     */
    public static Profile of(String name) {
        return switch (name) {
            case "ietf" -> IETF;
            case "stripe" -> STRIPE;
            case "strict" -> STRICT;
            case "oasis" -> OASIS;
            default ->
                throw new IllegalArgumentException("no profile \"" + name + "\"; use ietf, stripe, strict or oasis");
        };
    }

    /** The name, for the published specification. */
    public String name() {
        return name;
    }

    /** Whether a request without a key is refused; else it runs unprotected. */
    public boolean keyRequired() {
        return keyRequired;
    }

    /** What a duplicate of a running request gets. */
    public WhenRunning whenRunning() {
        return whenRunning;
    }

    /**
     * Statuses below 500 that say that the request was refused before it was processed (log in first, slow down): the
     * next retry runs again.
     */
    public Set<Integer> neverStored() {
        return neverStored;
    }

    /** What a status of 500 and above, or an exception, means; see {@link #meaning}. */
    public OnServerError onServerError() {
        return onServerError;
    }

    /** Whether a key may be remembered after retention; if not, it runs as new. */
    public boolean tombstones() {
        return tombstones;
    }

    /** Where the status of a problem differs from {@link Problem#status}. */
    public Map<Problem, Integer> statuses() {
        return statuses;
    }

    /** How refusals are written. */
    public ErrorFormat errors() {
        return errors;
    }

    /** The request header that the key is in. */
    public String keyHeader() {
        return oasis ? Repeatability.REQUEST_ID : KeyHeader.NAME;
    }

    boolean isOasis() {
        return oasis;
    }

    /** The answer to a request that was taken on, now or before. */
    HttpAnswer accepted(HttpAnswer answer) {
        return oasis ? Repeatability.marked(answer, true) : answer;
    }

    /** Starts from this profile. */
    public Builder toBuilder() {
        return new Builder(this);
    }

    /** What a response with this status means. This and the next two methods are the only place that decides it. */
    public Meaning meaning(int status) {
        if (status < SERVER_ERROR) {
            return neverStored.contains(status) ? Meaning.RETRYABLE : Meaning.STORED;
        }
        return onServerError == OnServerError.RETRY && !IN_DOUBT.contains(status)
                ? Meaning.RETRYABLE
                : meaningOfException();
    }

    /** What an exception means that leaves a handler, and about which the failure rule knows nothing. */
    public Meaning meaningOfException() {
        return switch (onServerError) {
            case RETRY, UNKNOWN -> Meaning.UNKNOWN;
            case RETRY_ALWAYS -> Meaning.RETRYABLE;
            case STORE -> Meaning.STORED;
        };
    }

    /**
     * What a response means that was made because the handler did not answer in time. Its work may go on, so it can never be
     * retryable, and neither a server error nor a refusal before processing is its outcome.
     */
    public Meaning meaningAfterTimeout(int status) {
        boolean conclusive = status < SERVER_ERROR && !BEFORE_PROCESSING.contains(status);
        return conclusive && meaning(status) == Meaning.STORED ? Meaning.STORED : Meaning.UNKNOWN;
    }

    /** Whether a response with this status is stored and replayed. */
    public boolean isStored(int status) {
        return meaning(status) == Meaning.STORED;
    }

    /** The status of a problem in this profile. */
    public int status(Problem problem) {
        return statuses.getOrDefault(problem, problem.status());
    }

    HttpAnswer refuse(Problem.Report report) {
        return refuse(report, status(report.problem()));
    }

    /** With another status than usual. */
    HttpAnswer refuse(Problem.Report report, int status) {
        HttpAnswer refusal = errors.write(report, status);
        return oasis ? Repeatability.marked(refusal, Repeatability.isAccepted(report.problem())) : refusal;
    }

    /** Builds a {@link Profile}. */
    public static final class Builder {
        private String name;
        private boolean keyRequired = true;
        private WhenRunning whenRunning = WhenRunning.CONFLICT;
        private Set<Integer> neverStored = Set.of();
        private OnServerError onServerError = OnServerError.RETRY;
        private boolean tombstones = true;
        private final Map<Problem, Integer> statuses = new EnumMap<>(Problem.class);
        private ErrorFormat errors = ErrorFormat.PROBLEM_JSON;
        private boolean oasis;

        private Builder(String name) {
            this.name = name;
        }

        private Builder(Profile profile) {
            name = profile.name;
            keyRequired = profile.keyRequired;
            whenRunning = profile.whenRunning;
            neverStored = profile.neverStored;
            onServerError = profile.onServerError;
            tombstones = profile.tombstones;
            statuses.putAll(profile.statuses);
            errors = profile.errors;
            oasis = profile.oasis;
        }

        private Builder oasis() {
            oasis = true;
            return this;
        }

        /** The name, for the published specification. */
        public Builder name(String name) {
            this.name = name;
            return this;
        }

        /** Whether a request without a key is refused; else it runs unprotected. */
        public Builder keyRequired(boolean required) {
            this.keyRequired = required;
            return this;
        }

        /** What a duplicate of a running request gets. */
        public Builder whenRunning(WhenRunning answer) {
            this.whenRunning = answer;
            return this;
        }

        /** Statuses below 500 that are never stored. */
        public Builder neverStored(Set<Integer> below500) {
            this.neverStored = below500;
            return this;
        }

        /** What a status of 500 and above, or an exception, means. */
        public Builder onServerError(OnServerError meaning) {
            this.onServerError = meaning;
            return this;
        }

        /** Whether a key may be remembered after retention. */
        public Builder tombstones(boolean allowed) {
            this.tombstones = allowed;
            return this;
        }

        /** The status of a problem; throws {@link IllegalArgumentException} unless it is 400 to 599. */
        public Builder status(Problem problem, int status) {
            if (status < 400 || status > 599) {
                throw new IllegalArgumentException("the status of " + problem + " must be 400 to 599: " + status);
            }
            statuses.put(problem, status);
            return this;
        }

        /** How refusals are written. */
        public Builder errors(ErrorFormat format) {
            this.errors = format;
            return this;
        }

        /** Builds it. */
        public Profile build() {
            return new Profile(this);
        }
    }
}
