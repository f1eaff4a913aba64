package dev.onlyonce.http;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Begun;
import dev.onlyonce.Key;
import dev.onlyonce.KeyRules;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.fingerprint.Fingerprinter;
import dev.onlyonce.fingerprint.MalformedRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP semantics of keys, free of any framework: from a request to <em>run it</em> or <em>answer this</em>. Any number
 * of threads. It talks to the store only, through {@link Onlyonce}, and so blocks for as long as that does.
 *
 * <ol>
 *   <li>A request without a key passes, or is refused if its operation requires one.
 *   <li>Tenant, key, age and body are checked; what breaks a rule is refused and nothing is stored.
 *   <li>The tenant's limits are checked. Over them, only keys that exist already are let through.
 *   <li>The key is claimed. The winner runs; everybody else is answered as the operation's profile says.
 * </ol>
 */
public final class Boundary {
    /** Where the specification is found, by convention. */
    public static final String SPECIFICATION_PATH = "/.well-known/idempotency";
    /** Where the status of a key is found, unless configured otherwise. */
    public static final String STATUS_PATH = "/.well-known/idempotency/status";

    /** A store that is well again is noticed within a second. */
    static final Duration RETRY_AFTER_STORE = Duration.ofSeconds(1);
    /** Every 409 says when to ask again, but this answer will not change. */
    private static final Duration RETRY_AFTER_NOT_STORED = Duration.ofHours(1);

    /** What says who the caller is, unless configured otherwise. */
    public static final List<String> CREDENTIALS = List.of("Authorization");

    /** No header line reads like this. */
    private static final String AUTHENTICATED = "authenticated";

    private static final Logger log = LoggerFactory.getLogger(Boundary.class);

    private final Onlyonce once;
    private final List<Route> routes;
    private final @Nullable TenantLimits limits;
    private final @Nullable String anonymous;
    private final @Nullable List<String> credentials;
    private final String challenge;
    private final String statusPath;
    private final String base;

    private record Route(PathTemplate template, Operation operation) {}

    private Boundary(Builder builder) {
        once = builder.once;
        routes = builder.operations.values().stream()
                .map(operation -> new Route(new PathTemplate(operation.path()), operation))
                .toList();
        // What counts them needs a library that an application without limits need not have.
        limits = builder.limits.equals(Limits.none())
                ? null
                : new TenantLimits(builder.limits, builder.limitTogether, once);
        anonymous = builder.anonymous;
        credentials = builder.credentials;
        challenge = builder.challenge;
        statusPath = builder.statusPath;
        base = "";
    }

    private Boundary(Boundary other, String base) {
        once = other.once;
        routes = other.routes;
        limits = other.limits;
        anonymous = other.anonymous;
        credentials = other.credentials;
        challenge = other.challenge;
        statusPath = other.statusPath;
        this.base = base;
    }

    /**
     * The same for an application that is not at the root of its server: what clients are told to ask for begins with this
     * path, such as {@code /shop}. Requests are still matched by their path within the application.
     */
    public Boundary under(String base) {
        return base.equals(this.base) ? this : new Boundary(this, base);
    }

    /** Starts without operations and limits, and with authentication required. */
    public static Builder builder(Onlyonce once) {
        return new Builder(once);
    }

    /** The operations, in the order in which they are tried. */
    public List<Operation> operations() {
        return routes.stream().map(Route::operation).toList();
    }

    /** The first operation that this method and path belong to, in any way that a server may read the path. */
    public Optional<Operation> operation(String method, String path) {
        List<Route> candidates = routes(method);
        if (candidates.isEmpty()) {
            return Optional.empty();
        }
        return PathReadings.isTooOdd(path) ? anyOf(candidates) : operation(candidates, PathReadings.of(path));
    }

    /** For a path that may be anything. */
    private static Optional<Operation> anyOf(List<Route> candidates) {
        return Optional.of(candidates.get(0).operation());
    }

    /**
     * The same in an application that has a part of the address space to itself.
     *
     * @param contextPath where that begins, e.g. {@code /shop}; empty for all of it
     * @param uri the path as it was sent, with the context path in whatever spelling
     * @param inner what the container makes of the rest
     */
    public Optional<Operation> operation(String method, String contextPath, String uri, String inner) {
        List<Route> candidates = routes(method);
        if (candidates.isEmpty()) {
            return Optional.empty();
        }
        if (PathReadings.isTooOdd(uri) || PathReadings.isTooOdd(inner)) {
            return anyOf(candidates);
        }
        int above = PathReadings.of(contextPath).get(0).size();
        List<List<String>> readings = new ArrayList<>(PathReadings.of(inner));
        for (List<String> whole : PathReadings.of(uri)) {
            // The container has found that it begins with the context path; how that is spelled does not matter.
            readings.add(whole.subList(Math.min(above, whole.size()), whole.size()));
        }
        return operation(candidates, readings);
    }

    /** Whether servers may differ in which operation, if any, a request with this method and path asks for. */
    public boolean isAmbiguous(String method, String path) {
        List<Route> candidates = routes(method);
        if (candidates.isEmpty() || PathReadings.isTooOdd(path)) {
            return !candidates.isEmpty();
        }
        List<List<String>> readings = PathReadings.of(path);
        Optional<Operation> usual = operation(candidates, readings.subList(0, 1));
        return readings.stream()
                .skip(1)
                .anyMatch(reading -> !operation(candidates, List.of(reading)).equals(usual));
    }

    /** Some servers take any case of a method for it. */
    private List<Route> routes(String method) {
        return routes.stream()
                .filter(route -> route.operation().method().equalsIgnoreCase(method))
                .toList();
    }

    private static Optional<Operation> operation(List<Route> candidates, List<List<String>> readings) {
        for (Route route : candidates) {
            if (readings.stream().anyMatch(route.template()::matches)) {
                return Optional.of(route.operation());
            }
        }
        return Optional.empty();
    }

    /** Decides on a request by its method and path; what belongs to no operation passes through. */
    public HttpDecision decide(HttpRequest request) {
        Optional<Operation> operation = operation(request.method(), request.path());
        return operation.isPresent() ? decide(operation.get(), request) : new HttpDecision.PassThrough();
    }

    /**
     * Decides on a request for an operation. Whatever goes wrong with the store is an answer too; the operation does not run
     * then.
     */
    public HttpDecision decide(Operation operation, HttpRequest request) {
        Prepared prepared = prepare(operation, request);
        return prepared instanceof Prepared.Ready ready ? ready.begin() : ((Prepared.Decided) prepared).decision();
    }

    /** Does what can be done without the store, and so never blocks: checks, and answers from memory. */
    public Prepared prepare(Operation operation, HttpRequest request) {
        Checked checked = inspect(operation, request);
        if (checked instanceof Checked.Refused refused) {
            return new Prepared.Decided(new HttpDecision.Answer(refused.answer()));
        }
        if (!(checked instanceof Checked.Asked asked)) {
            return new Prepared.Decided(new HttpDecision.PassThrough());
        }
        try {
            Optional<Outcome<byte[]>> cached = once.cached(asked.key(), asked.fingerprint());
            return cached.isPresent()
                    ? new Prepared.Decided(new HttpDecision.Answer(answer(operation, cached.get())))
                    : new Prepared.Ready(new Beginning(this, once, operation, asked));
        } catch (StoreException e) {
            return new Prepared.Decided(new HttpDecision.Answer(unavailable(operation, e)));
        }
    }

    /**
     * Checks a request for an operation, up to the point where the key would be claimed. The caller says when the action
     * {@linkplain Room#began begins} and {@linkplain Room#release releases} the room of what is asked for, whatever happens.
     */
    public Checked check(Operation operation, HttpRequest request) {
        Checked checked = inspect(operation, request);
        try {
            return checked instanceof Checked.Asked asked ? limit(operation, asked) : checked;
        } catch (StoreException e) {
            return new Checked.Refused(unavailable(operation, e));
        }
    }

    private Checked inspect(Operation operation, HttpRequest request) {
        if (!operation.concerns(request.headers())) {
            return new Checked.Pass();
        }
        try {
            String tenant = tenant(request);
            if (tenant == null) {
                return refuse(operation, unauthenticated());
            }
            Key key = new Key(tenant, operation.name(), key(operation, request.headers()), operation.scope());
            Optional<Problem.Report> stale = operation.age() == null
                    ? Optional.empty()
                    : operation
                            .age()
                            .check(request.headers(), once.registry().time().now());
            return stale.isPresent()
                    ? refuse(operation, stale.get())
                    : new Checked.Asked(key, fingerprint(operation, request), room(tenant));
        } catch (MalformedKey e) {
            return refuse(operation, report(e));
        } catch (MalformedRequest e) {
            Problem problem = e.tooLarge() ? Problem.BODY_TOO_LARGE : Problem.REQUEST_MALFORMED;
            return refuse(operation, problem.because(e.getMessage()).member("reason", code(e.reason())));
        }
    }

    /** Reserves room. Over its limits a tenant may still ask about keys that it has, but not run them again. */
    Checked limit(Operation operation, Checked.Asked asked) {
        Optional<Problem.Report> over = asked.room().reserve();
        if (over.isEmpty()) {
            return asked;
        }
        Optional<Entry> entry = once.find(asked.key());
        if (entry.isPresent()) {
            // It is no new key, but it may be executed.
            over = entry.get().state() == State.RETRYABLE ? asked.room().reserveLive() : Optional.empty();
        }
        return over.isPresent() ? refuse(operation, over.get()) : asked;
    }

    private Room room(String tenant) {
        return limits == null ? new Room(null, tenant) : limits.room(tenant);
    }

    boolean limitsKeys() {
        return limits != null && limits.limitsKeys();
    }

    /** What a request is told that cannot even wait for the store, because too many do. Nothing was executed. */
    public HttpAnswer overloaded(Operation operation) {
        return operation.profile().refuse(Problem.STORE_UNAVAILABLE.report().retryAfter(RETRY_AFTER_STORE));
    }

    /** What a request is told whose body is larger than its operation allows, without a need to hold it: 413. */
    public HttpAnswer tooLarge(Operation operation) {
        return operation
                .profile()
                .refuse(Problem.BODY_TOO_LARGE
                        .because("the limit is " + operation.bodyBytesMax() + " bytes")
                        .member("reason", code(MalformedRequest.Reason.BODY_TOO_LARGE)));
    }

    /** What a request is told whose body is not what its content type says, where somebody else has read it: 400. */
    public HttpAnswer unreadable(Operation operation) {
        return operation
                .profile()
                .refuse(Problem.REQUEST_MALFORMED.because("the body is not what its content type says"));
    }

    /** The answer when the store failed before anything was executed: 503. */
    public HttpAnswer unavailable(Operation operation, StoreException failure) {
        log.debug("{} did not run because the store failed", operation.name(), failure);
        return operation.profile().refuse(Problem.STORE_UNAVAILABLE.report().retryAfter(RETRY_AFTER_STORE));
    }

    /** The answer when it was executed, and the store may or may not have recorded that: 503. */
    public HttpAnswer notRecorded(Operation operation, StoreException failure) {
        log.warn("{} was executed, but it is not known whether that was recorded", operation.name(), failure);
        return operation.profile().refuse(Problem.NOT_RECORDED.report().retryAfter(RETRY_AFTER_STORE));
    }

    /**
     * Records the answer to a request that has no effect any more, because its transaction was rolled back: the key is
     * claimed for the record alone. Limits were checked when the request began.
     *
     * @return the answer and how long it is kept, or what to send instead
     */
    public HttpAnswer record(Operation operation, Checked.Asked asked, HttpAnswer answer) {
        try {
            Begun begun = once.begin(asked.key(), asked.fingerprint(), operation.policy());
            return begun instanceof Begun.Claimed mine
                    ? new Exchange(operation, mine.claim(), () -> {}).finish(answer)
                    : answer(operation, ((Begun.Answered) begun).outcome());
        } catch (StoreException e) {
            return unavailable(operation, e);
        }
    }

    private @Nullable String tenant(HttpRequest request) {
        return request.tenant() == null ? anonymous : request.tenant();
    }

    private Problem.Report unauthenticated() {
        return Problem.AUTHENTICATION_REQUIRED.report().header("WWW-Authenticate", challenge);
    }

    private static String key(Operation operation, Headers headers) {
        String key = KeyHeader.parse(headers.values(KeyHeader.NAME));
        operation.keys().check(key);
        if (operation.refusePersonalKeys()) {
            PersonalData.refuse(key);
        }
        return key;
    }

    static Problem.Report report(MalformedKey e) {
        Problem problem = switch (e.reason()) {
            case MISSING -> Problem.KEY_MISSING;
            case BAD_FORMAT -> Problem.KEY_FORMAT;
            case PERSONAL -> Problem.KEY_PERSONAL;
            case EMPTY, TOO_LONG, BAD_CHARACTER, SEVERAL, BAD_QUOTING -> Problem.KEY_MALFORMED;
        };
        return problem.because(e.getMessage()).member("reason", code(e.reason()));
    }

    private static String code(Enum<?> reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }

    private Fingerprint fingerprint(Operation operation, HttpRequest request) {
        Fingerprint fingerprint = operation
                .fingerprinter()
                .fingerprint(new Fingerprinter.Request(
                        request.method(),
                        request.path(),
                        request.query(),
                        request.headers().toMap(operation.fingerprinter().headers()),
                        request.headers().first("Content-Type").orElse(null),
                        request.body()));
        return credentials(request).map(fingerprint::boundTo).orElse(fingerprint);
    }

    /** What the caller shows of itself, where its tenant does not say who it is; empty where that is not compared. */
    private Optional<String> credentials(HttpRequest request) {
        List<String> names = credentials != null ? credentials : request.tenant() == null ? CREDENTIALS : List.of();
        if (names.isEmpty()) {
            // A user may be named as those without a tenant are, and what is not bound would be theirs too.
            boolean namesake = credentials == null
                    && request.tenant() != null
                    && request.tenant().equals(anonymous);
            return namesake ? Optional.of(AUTHENTICATED) : Optional.empty();
        }
        StringBuilder shown = new StringBuilder();
        for (String name : names) {
            for (String value : request.headers().values(name)) {
                // With its length: no two callers show the same text.
                shown.append(name.toLowerCase(Locale.ROOT)).append(' ');
                shown.append(value.length()).append(' ').append(value).append('\n');
            }
        }
        return Optional.of(shown.toString());
    }

    private static Checked refuse(Operation operation, Problem.Report report) {
        return new Checked.Refused(operation.profile().refuse(report));
    }

    /** The answer to a request that was not executed now. A record that cannot be read is 503: a newer release may know. */
    public HttpAnswer answer(Operation operation, Outcome<byte[]> outcome) {
        try {
            return translate(operation, outcome);
        } catch (IllegalStateException e) {
            log.error("A record of {} cannot be read", operation.name(), e);
            return operation.profile().refuse(Problem.STORE_UNAVAILABLE.report().retryAfter(RETRY_AFTER_STORE));
        }
    }

    /** The answer to the request that was executed: as to its retries, but not marked as a replay. */
    public HttpAnswer first(Operation operation, Outcome<byte[]> outcome) {
        HttpAnswer answer = answer(operation, outcome);
        return new HttpAnswer(
                answer.status(),
                answer.headers().only(field -> !field.name().equalsIgnoreCase(StoredHeaders.REPLAYED)),
                answer.body());
    }

    private HttpAnswer translate(Operation operation, Outcome<byte[]> outcome) {
        Profile profile = operation.profile();
        return outcome.fold(new Outcome.Cases<>() {
            @Override
            public HttpAnswer executed(Outcome.Executed<byte[]> executed) {
                throw new IllegalStateException("beginning an operation does not execute it");
            }

            @Override
            public HttpAnswer replayed(Outcome.Replayed<byte[]> replayed) {
                return replay(profile, replayed);
            }

            @Override
            public HttpAnswer failed(Outcome.Failed<byte[]> failed) {
                return Boundary.failed(operation, failed);
            }

            @Override
            public HttpAnswer inFlight(Outcome.InFlight<byte[]> inFlight) {
                return Boundary.this.inFlight(operation, inFlight);
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
                return profile.refuse(Problem.OUTCOME_UNKNOWN.report().retryAfter(unknown.retryAfter()));
            }

            @Override
            public HttpAnswer expired(Outcome.Expired<byte[]> expired) {
                return profile.refuse(Problem.KEY_EXPIRED.report());
            }
        });
    }

    private static HttpAnswer replay(Profile profile, Outcome.Replayed<byte[]> replayed) {
        Optional<StoredResponse> stored = StoredResponse.decode(replayed.value());
        if (stored.isEmpty() || stored.get().body().isEmpty()) {
            return notStored(profile, stored, replayed.expiresAt());
        }
        StoredResponse response = stored.get();
        return replayed(
                new HttpAnswer(
                        response.status(), response.headers(), response.body().get()),
                replayed.expiresAt());
    }

    private static HttpAnswer notStored(Profile profile, Optional<StoredResponse> stored, Instant expiresAt) {
        Problem.Report report = Problem.RESPONSE_NOT_STORED.report().retryAfter(RETRY_AFTER_NOT_STORED);
        if (stored.isPresent()) {
            report = report.member("originalStatus", stored.get().status());
            Optional<String> location = stored.get().headers().first("Location");
            report = location.isPresent() ? report.header("Location", location.get()) : report;
        }
        return replayed(profile.refuse(report), expiresAt);
    }

    private static HttpAnswer failed(Operation operation, Outcome.Failed<byte[]> failed) {
        Profile profile = operation.profile();
        return switch (failed.failure().code()) {
            case Failure.RESULT_NOT_STORED -> notStored(profile, Optional.empty(), failed.expiresAt());
            case Failure.PENDING_EXPIRED ->
                replayed(profile.refuse(Problem.PENDING_EXPIRED.report()), failed.expiresAt());
            default -> replayed(Exchange.failure(operation, failed.failure()), failed.expiresAt());
        };
    }

    private HttpAnswer inFlight(Operation operation, Outcome.InFlight<byte[]> inFlight) {
        if (!inFlight.pending() && operation.profile().whenRunning() == WhenRunning.CONFLICT) {
            return operation.profile().refuse(Problem.IN_PROGRESS.report().retryAfter(inFlight.retryAfter()));
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("operation", operation.name());
        body.put("state", inFlight.pending() ? "pending" : "processing");
        String seconds = ErrorFormat.seconds(inFlight.retryAfter());
        return new HttpAnswer(
                202,
                Headers.of(
                        "Content-Type",
                        "application/json",
                        "Cache-Control",
                        "no-store",
                        "Retry-After",
                        seconds,
                        "Location",
                        statusLocation(operation)),
                ErrorFormat.json(body));
    }

    private String statusLocation(Operation operation) {
        // The key itself goes into the header: addresses end up in logs.
        return base + statusPath + "?operation=" + PercentCoding.encode(operation.name());
    }

    private static HttpAnswer replayed(HttpAnswer answer, Instant expiresAt) {
        return expiring(answer, expiresAt).header(StoredHeaders.REPLAYED, "true");
    }

    /** An answer that is recorded, with how long it is kept. */
    public static HttpAnswer expiring(HttpAnswer answer, Instant expiresAt) {
        return answer.header(StoredHeaders.EXPIRES, HttpDate.format(expiresAt));
    }

    /** What {@code GET} {@value #SPECIFICATION_PATH} answers: everything that a client must know, for programs. */
    public HttpAnswer specification() {
        return Specification.of(base, statusPath, operations());
    }

    /**
     * What {@code GET} on the {@linkplain #statusPath status path} answers: what became of the caller's own key, sent in the
     * {@code Idempotency-Key} header; the operation is named in the query ({@code ?operation=POST%20%2Fpayments}) and may be
     * left out where keys are unique in their tenant. An absent key and another tenant's are the same.
     */
    public HttpAnswer status(HttpRequest request) {
        String tenant = tenant(request);
        if (tenant == null) {
            return Profile.ietf().refuse(unauthenticated());
        }
        Optional<Problem.Report> over = limits == null ? Optional.empty() : limits.lookUp(tenant);
        if (over.isPresent()) {
            return Profile.ietf().refuse(over.get());
        }
        return new KeyStatus(once, operations()).answer(tenant, request, credentials(request));
    }

    /** Where to ask for the status of a key, within the application. */
    public String statusPath() {
        return statusPath;
    }

    /** Builds a {@link Boundary}. */
    public static final class Builder {
        private final Onlyonce once;
        private final Map<String, Operation> operations = new LinkedHashMap<>();
        private Limits limits = Limits.none();
        private boolean limitTogether;
        private @Nullable String anonymous;
        private @Nullable List<String> credentials;
        private String challenge = "Bearer";
        private String statusPath = STATUS_PATH;

        private Builder(Onlyonce once) {
            this.once = requireNonNull(once, "once");
        }

        /**
         * Protects an operation. Where several match a request, the first one added counts.
         *
         * @throws IllegalArgumentException if there is one with this name already
         */
        public Builder operation(Operation operation) {
            if (operations.putIfAbsent(operation.name(), operation) != null) {
                throw new IllegalArgumentException("there are two operations named " + operation.name());
            }
            return this;
        }

        /** Protects operations. */
        public Builder operations(List<Operation> more) {
            new ArrayList<>(more).forEach(this::operation);
            return this;
        }

        /** Limits what one tenant may do. */
        public Builder limits(Limits limits) {
            this.limits = limits;
            return this;
        }

        /** Counts all tenants as one, because clients can choose theirs: each new one would have an allowance of its own. */
        public Builder limitTogether() {
            this.limitTogether = true;
            return this;
        }

        /**
         * Lets unauthenticated requests share one tenant; those with another {@code Authorization} header than the first request
         * of a key are refused with 422. Without this they are refused with 401.
         */
        public Builder anonymous(@Nullable String tenant) {
            if (tenant != null) {
                KeyRules.checkName("tenant", tenant);
            }
            this.anonymous = tenant;
            return this;
        }

        /**
         * Compares the caller's credentials in every request, because callers share their tenant: nobody gets an answer, or
         * learns the status of a key, that belongs to other credentials. They are not stored, only hashed.
         *
         * @param headers where callers send them; none for not compared. Without this, {@link #CREDENTIALS} of requests that
         *     have no tenant of their own
         */
        public Builder credentials(List<String> headers) {
            this.credentials = headers.stream()
                    .map(name -> name.toLowerCase(Locale.ROOT))
                    .sorted()
                    .toList();
            return this;
        }

        /** What the {@code WWW-Authenticate} header of a 401 says. */
        public Builder challenge(String challenge) {
            this.challenge = challenge;
            return this;
        }

        /** Where clients can ask for the status of a key. */
        public Builder statusPath(String path) {
            this.statusPath = path;
            return this;
        }

        /** Builds it. */
        public Boundary build() {
            return new Boundary(this);
        }
    }
}
