package dev.onlyonce.http;

import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * How an operation behaves towards its clients: one component for each row of the table in the documentation. Start from
 * {@link #ietf}, {@link #stripe} or {@link #strict} and change what should differ.
 *
 * @param name for the published specification
 * @param keyRequired whether a request without a key is refused; else it runs unprotected
 * @param whenRunning what a duplicate of a running request is told
 * @param neverStored statuses below 500 that are answers of the moment (log in first, slow down) and say that the handler
 *     refused before it acted: the next retry runs again
 * @param onServerError what a status of 500 and above, or an exception, means; see {@link #meaning}
 * @param tombstones whether a key may be remembered after retention; if not, it runs as new
 * @param statuses where the status of a problem differs from {@link Problem#status}
 * @param errors how refusals are written
 */
public record Profile(
        String name,
        boolean keyRequired,
        WhenRunning whenRunning,
        Set<Integer> neverStored,
        OnServerError onServerError,
        boolean tombstones,
        Map<Problem, Integer> statuses,
        ErrorFormat errors) {

    /** Answers of the moment: log in first, ask somebody else, send it again, slow down. */
    private static final Set<Integer> OF_THE_MOMENT = Set.of(401, 403, 408, 425, 429);
    /** What a proxy answers when it does not know what became of the request. */
    private static final Set<Integer> IN_DOUBT = Set.of(502, 504);

    private static final int SERVER_ERROR = 500;

    /** What a response, or the lack of one, makes of the entry. */
    public enum Meaning {
        /** It is the outcome: stored, and every retry gets it. */
        STORED,
        /** No effect happened: the next retry runs again. */
        RETRYABLE,
        /** Nobody knows: reconciled. */
        UNKNOWN
    }

    private static final Profile IETF = new Profile(
            "ietf",
            true,
            WhenRunning.CONFLICT,
            OF_THE_MOMENT,
            OnServerError.RETRY,
            true,
            Map.of(),
            ErrorFormat.PROBLEM_JSON);
    private static final Profile STRIPE = new Profile(
            "stripe",
            false,
            WhenRunning.CONFLICT,
            Set.of(),
            OnServerError.STORE,
            false,
            Map.of(Problem.KEY_REUSED, 400),
            ErrorFormat.STRIPE);
    private static final Profile STRICT = new Profile(
            "strict",
            true,
            WhenRunning.CONFLICT,
            OF_THE_MOMENT,
            OnServerError.UNKNOWN,
            true,
            Map.of(),
            ErrorFormat.PROBLEM_JSON);

    /** Checks and copies. */
    public Profile {
        neverStored = Set.copyOf(neverStored);
        statuses = Map.copyOf(statuses);
        statuses.forEach((problem, status) -> {
            if (status < 400 || status > 599) {
                throw new IllegalArgumentException("the status of " + problem + " must be 400 to 599: " + status);
            }
        });
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
     * By name.
     *
     * @throws IllegalArgumentException if there is none with this name
     */
    public static Profile of(String name) {
        return switch (name) {
            case "ietf" -> IETF;
            case "stripe" -> STRIPE;
            case "strict" -> STRICT;
            default -> throw new IllegalArgumentException("no profile \"" + name + "\"; use ietf, stripe or strict");
        };
    }

    /** The same with keys required or not. */
    public Profile keyRequired(boolean required) {
        return new Profile(name, required, whenRunning, neverStored, onServerError, tombstones, statuses, errors);
    }

    /** The same with another answer to duplicates of a running request. */
    public Profile whenRunning(WhenRunning answer) {
        return new Profile(name, keyRequired, answer, neverStored, onServerError, tombstones, statuses, errors);
    }

    /** The same with other statuses that are never stored. */
    public Profile neverStored(Set<Integer> below500) {
        return new Profile(name, keyRequired, whenRunning, below500, onServerError, tombstones, statuses, errors);
    }

    /** The same with another meaning of 5xx and exceptions. */
    public Profile onServerError(OnServerError meaning) {
        return new Profile(name, keyRequired, whenRunning, neverStored, meaning, tombstones, statuses, errors);
    }

    /** The same with or without tombstones. */
    public Profile tombstones(boolean allowed) {
        return new Profile(name, keyRequired, whenRunning, neverStored, onServerError, allowed, statuses, errors);
    }

    /** The same with another status for a problem. */
    public Profile status(Problem problem, int status) {
        Map<Problem, Integer> changed = new EnumMap<>(Problem.class);
        changed.putAll(statuses);
        changed.put(problem, status);
        return new Profile(name, keyRequired, whenRunning, neverStored, onServerError, tombstones, changed, errors);
    }

    /** The same with refusals written otherwise. */
    public Profile errors(ErrorFormat format) {
        return new Profile(name, keyRequired, whenRunning, neverStored, onServerError, tombstones, statuses, format);
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
     * retryable, and neither a server error nor an answer of the moment is what became of it.
     */
    public Meaning meaningAfterTimeout(int status) {
        boolean conclusive = status < SERVER_ERROR && !OF_THE_MOMENT.contains(status);
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
        return errors.write(report, status(report.problem()));
    }

    /** With another status than usual. */
    HttpAnswer refuse(Problem.Report report, int status) {
        return errors.write(report, status);
    }
}
