package dev.onlyonce.http;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.fingerprint.Fingerprint;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP semantics of keys, free of any framework. It makes one {@link Exchange} for each request to an operation, and answers
 * questions about keys. Any number of threads.
 *
 * <ol>
 *   <li>A request without a key passes, or is refused if its operation requires one.
 *   <li>Tenant, key and body are checked ({@link RequestCheck}). A request that breaks a rule is refused, and nothing is
 *       stored. Its age is checked too, but refuses only a key that the store does not know.
 *   <li>The tenant's limits are checked ({@link TenantLimits}). Over them, only keys that exist already get through.
 *   <li>The key is claimed. The winner runs; all others get the answer that the operation's profile says ({@link Answers}).
 * </ol>
 */
public final class Boundary {
    /** Where the specification is found, by convention. */
    public static final String SPECIFICATION_PATH = "/.well-known/idempotency";
    /** Where the status of a key is found, unless configured otherwise. */
    public static final String STATUS_PATH = "/.well-known/idempotency/status";

    /**
     * The headers that say who the caller is, unless configured otherwise. Of {@code Cookie}, the cookies of load balancers, bot
     * protection and analytics do not count.
     */
    public static final List<String> CREDENTIALS = List.of(
            "Authorization", "Cookie", "X-Api-Key", "Api-Key", "api_key", "apikey", "X-Auth-Token", "X-Access-Token");

    private final Onlyonce once;
    private final Routes routes;
    private final Callers callers;
    private final RequestCheck check;
    private final @Nullable TenantLimits limits;
    private final String statusPath;
    private final String base;

    private Boundary(Builder builder) {
        once = builder.once;
        routes = new Routes(builder.operations.values());
        callers = new Callers(
                builder.anonymousTenant,
                new Credentials(builder.anonymousCredentials),
                builder.credentials,
                builder.challenge,
                builder.hint);
        check = new RequestCheck(callers, once.registry().time());
        // Counting needs a library that an application without limits need not have.
        limits = builder.limits.limitsAnything() ? new TenantLimits(builder.limits, builder.limitTogether, once) : null;
        statusPath = builder.statusPath;
        base = "";
    }

    private Boundary(Boundary other, String base) {
        once = other.once;
        routes = other.routes;
        callers = other.callers;
        check = other.check;
        limits = other.limits;
        statusPath = other.statusPath;
        this.base = base;
    }

    /**
     * The same for an application that is not at the root of its server: paths in answers begin with this path, such as {@code
     * /shop}. Requests are still matched by their path within the application.
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
        return routes.operations();
    }

    /** The first operation that this method and path belong to, in any way that a server may read the path. */
    public Optional<Operation> operation(String method, String path) {
        return routes.find(method, path);
    }

    /**
     * The same in an application that has a part of the address space to itself.
     *
     * @param contextPath where that begins, e.g. {@code /shop}; empty for all of it
     * @param uri the path as it was sent, with the context path in any spelling
     * @param inner the rest as the container reads it
     */
    public Optional<Operation> operation(String method, String contextPath, String uri, String inner) {
        return routes.find(method, contextPath, uri, inner);
    }

    /** Whether servers may differ in which operation, if any, a request with this method and path asks for. */
    public boolean isAmbiguous(String method, String path) {
        return routes.isAmbiguous(method, path);
    }

    /** The answers of an operation that are needed before there is an exchange. */
    public Answers answers(Operation operation) {
        return new Answers(operation, base + statusPath);
    }

    /**
     * Checks a request for an operation and answers it from memory if this node can. Never asks the store, and so never blocks:
     * for event loops. The result is {@link Exchange.Stage#READY}, {@link Exchange.Stage#ANSWERED} or {@link
     * Exchange.Stage#UNPROTECTED}.
     */
    public Exchange exchange(Operation operation, HttpRequest request) {
        Exchange exchange = check(operation, request);
        if (exchange.stage() == Exchange.Stage.READY) {
            exchange.answerFromMemory();
        }
        return exchange;
    }

    private Exchange check(Operation operation, HttpRequest request) {
        Answers answers = answers(operation);
        if (!operation.concerns(request.headers())) {
            return Exchange.unprotected(once, answers);
        }
        RequestCheck.Result result = check.check(operation, request);
        if (result instanceof RequestCheck.Refused refused) {
            return Exchange.refused(once, answers, refused.report());
        }
        RequestCheck.Accepted accepted = (RequestCheck.Accepted) result;
        String tenant = accepted.key().tenant();
        return new Exchange(
                once, answers, accepted, limits == null ? LimitReservation.none() : limits.reservation(tenant));
    }

    /**
     * What identifies a request for an operation, for operators who compare it with a recorded one.
     *
     * @throws dev.onlyonce.fingerprint.MalformedRequest if the request would be refused for its body
     */
    public Fingerprint fingerprint(Operation operation, HttpRequest request) {
        return check.fingerprint(operation, request);
    }

    /** What {@code GET} {@value #SPECIFICATION_PATH} answers: everything that a client must know, for programs. */
    public HttpAnswer specification() {
        return Specification.of(base, statusPath, operations());
    }

    /**
     * What {@code GET} on the {@linkplain #statusPath status path} answers: the state of the caller's own key, sent in the {@code
     * Idempotency-Key} header. The query names the operation ({@code ?operation=POST%20%2Fpayments}); it may be left out where
     * keys are unique in their tenant. Another tenant's key gets the answer of an absent one.
     */
    public HttpAnswer status(HttpRequest request) {
        String tenant = callers.tenant(request);
        if (tenant == null) {
            return Profile.ietf().refuse(callers.unauthenticated(request));
        }
        Optional<Problem.Report> over = limits == null ? Optional.empty() : limits.lookUp(tenant);
        if (over.isPresent()) {
            return Profile.ietf().refuse(over.get());
        }
        return new KeyStatus(once, routes).answer(tenant, request, callers.credentials(request));
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
        private @Nullable String anonymousTenant;
        private List<String> anonymousCredentials = CREDENTIALS;
        private @Nullable Credentials credentials;
        private String challenge = "Bearer";
        private @Nullable String hint;
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
         * Lets unauthenticated requests share one tenant; those with other credentials than the first request of a key are refused
         * with 422. Without this they are refused with 401.
         */
        public Builder anonymousTenant(@Nullable String tenant) {
            if (tenant != null) {
                Key.checkName("tenant", tenant);
            }
            this.anonymousTenant = tenant;
            return this;
        }

        /**
         * Tells unauthenticated callers apart, who share the {@linkplain #anonymousTenant anonymous tenant}.
         *
         * @param names headers, or {@code cookie:} and the name of a cookie; none for not compared. Without this, {@link
         *     #CREDENTIALS}
         */
        public Builder anonymousCredentials(List<String> names) {
            this.anonymousCredentials = List.copyOf(names);
            return this;
        }

        /**
         * Compares the caller's credentials in every request, because callers share their tenant: nobody gets an answer, or
         * learns the status of a key, that belongs to other credentials. They are not stored, only hashed.
         *
         * @param names headers, or {@code cookie:} and the name of a cookie; none for not compared
         */
        public Builder credentials(List<String> names) {
            this.credentials = new Credentials(names);
            return this;
        }

        /** What the {@code WWW-Authenticate} header of a 401 says. */
        public Builder challenge(String challenge) {
            this.challenge = challenge;
            return this;
        }

        /** What the detail of a 401 says to developers; null for nothing. */
        public Builder authenticationHint(@Nullable String hint) {
            this.hint = hint;
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
