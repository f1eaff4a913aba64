package dev.onlyonce.spring.web;

import dev.onlyonce.Way;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.OperationResolver;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.operations.ChosenWay;
import dev.onlyonce.spring.operations.HandlerPlan;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.spring.transactions.KnownOperations;
import jakarta.servlet.http.HttpServletRequest;
import java.lang.reflect.Method;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.HttpMediaTypeNotSupportedException;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.CorsConfigurationSource;
import org.springframework.web.cors.CorsUtils;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/** The operations of the application's handlers. A request is matched by asking Spring itself which handler it is for. */
final class HandlerOperations implements OperationResolver, WebProtection.Handlers {
    /** Where a lost answer hurts; a handler for all methods is protected for these. */
    private static final Set<RequestMethod> STATE_CHANGING = Set.of(RequestMethod.POST, RequestMethod.PATCH);

    /** Request attribute: why the handler of this request cannot be called, found before a key is claimed. */
    static final String UNREADABLE = BodyReaders.class.getName();

    /** Request attribute: the protected operation that the filter has found. */
    static final String SEEN = HandlerOperations.class.getName();

    private final List<RequestMappingHandlerMapping> mappings;
    private final KnownOperations known;
    private final BodyReaders bodies;
    private final Map<String, HandlerPlan> plans = new LinkedHashMap<>();
    private final Map<Handler, Operation> operations = new LinkedHashMap<>();
    private final Set<String> methods = new HashSet<>();
    private final HandlerCoverage coverage = new HandlerCoverage();

    /** A method of a controller (which may have inherited it), as asked for by an HTTP method. */
    private record Handler(Class<?> controller, Method method, String httpMethod) {
        static Handler of(HandlerMethod handler, String httpMethod) {
            return new Handler(handler.getBeanType(), handler.getMethod(), httpMethod);
        }
    }

    HandlerOperations(
            List<RequestMappingHandlerMapping> mappings,
            OperationFactory factory,
            KnownOperations known,
            BodyReaders bodies) {
        this.mappings = mappings;
        this.known = known;
        this.bodies = bodies;
        for (RequestMappingHandlerMapping mapping : mappings) {
            mapping.getHandlerMethods().entrySet().stream()
                    .sorted(Comparator.comparing(entry -> entry.getKey().toString()))
                    .forEach(entry -> add(entry.getKey(), entry.getValue(), factory));
        }
    }

    private void add(RequestMappingInfo info, HandlerMethod handler, OperationFactory factory) {
        Idempotent own = AnnotatedElementUtils.findMergedAnnotation(handler.getMethod(), Idempotent.class);
        Idempotent annotation =
                own != null ? own : AnnotatedElementUtils.findMergedAnnotation(handler.getBeanType(), Idempotent.class);
        Set<RequestMethod> mapped = info.getMethodsCondition().getMethods();
        for (RequestMethod method : mapped.isEmpty() ? STATE_CHANGING : mapped) {
            String path = info.getPatternValues().stream().sorted().findFirst().orElse("/**");
            boolean changing = STATE_CHANGING.contains(method);
            if (annotation != null && (own != null || changing)) {
                protect(annotation, info, handler, factory.operation(annotation, method.name(), rooted(path)));
            } else if (changing) {
                coverage.leave(handler, method + " " + path);
            }
        }
    }

    private void protect(Idempotent annotation, RequestMappingInfo info, HandlerMethod handler, Operation operation) {
        if (!annotation.key().isEmpty()) {
            throw new InvalidSettings(
                    handler.getShortLogMessage() + " handles requests, whose key is the Idempotency-Key header, but its"
                            + " @Idempotent has key = \"" + annotation.key() + "\"",
                    "Remove the key, or put @Idempotent on a method of a bean that is no controller.",
                    null);
        }
        if (HandlerChecks.isStreaming(info, handler)) {
            throw new InvalidSettings(
                    handler.getShortLogMessage() + " streams its response, which cannot be recorded and replayed",
                    "Remove @Idempotent there. Accept the command with a protected POST that answers at once, and stream"
                            + " from a GET.",
                    null);
        }
        ChosenWay choice = choose(annotation, handler, operation.name());
        HandlerChecks.check(handler, choice.way(), operation);
        String topic = annotation.topic().isEmpty() ? operation.name() : annotation.topic();
        plans.put(operation.name(), new HandlerPlan(choice, topic));
        known.declare(operation.name(), operation.policy(), choice.way());
        known.declareFormer(operation.formerly(), operation.policy(), choice.way());
        operations.put(Handler.of(handler, operation.method()), operation);
        methods.add(operation.method());
        coverage.protect(operation.name());
    }

    private ChosenWay choose(Idempotent annotation, HandlerMethod handler, String operation) {
        ChosenWay choice = known.choose(annotation, handler.getMethod(), handler.getBeanType(), operation);
        if (choice.way() == Way.LEASED || !HandlerChecks.isAsynchronous(handler)) {
            return choice;
        }
        if (annotation.way().length > 0) {
            throw new InvalidSettings(
                    handler.getShortLogMessage() + " is asynchronous and cannot run the " + choice.way()
                            + " way, in one transaction or in steps",
                    "Return the value itself, or use way = LEASED.",
                    null);
        }
        known.downgrade(operation, "it is asynchronous, which a transaction cannot follow");
        return ChosenWay.leased();
    }

    private static String rooted(String path) {
        return path.startsWith("/") ? path : "/" + path;
    }

    @Override
    public List<Operation> all() {
        return List.copyOf(operations.values());
    }

    /** The operation of a handler, whichever of its HTTP methods is asked for. */
    Optional<Operation> of(HandlerMethod handler) {
        return operations.entrySet().stream()
                .filter(entry ->
                        entry.getKey().equals(Handler.of(handler, entry.getKey().httpMethod())))
                .map(Map.Entry::getValue)
                .findFirst();
    }

    @Override
    public Map<String, HandlerPlan> plans() {
        return plans;
    }

    @Override
    public Coverage coverage() {
        return coverage.found();
    }

    /** Says which handlers are not protected, or refuses to go on. */
    void report(Coverage.Mode mode) {
        coverage.report(mode);
    }

    @Override
    public Optional<Operation> operation(HttpServletRequest request) {
        if (!methods.contains(request.getMethod())) {
            return Optional.empty();
        }
        HandlerMethod handler = handler(request);
        Optional<Operation> operation = handler == null
                ? Optional.empty()
                : Optional.ofNullable(operations.get(Handler.of(handler, request.getMethod())));
        if (handler == null || operation.isEmpty()) {
            return Optional.empty();
        }
        HttpMediaTypeNotSupportedException unreadable = bodies.refusal(request, handler);
        if (unreadable != null) {
            request.setAttribute(UNREADABLE, unreadable);
            return Optional.empty();
        }
        request.setAttribute(SEEN, operation.get());
        return operation;
    }

    /** Refuses to call a protected handler that cannot read the body, as Spring would do a moment later. */
    void checkReadable(HttpServletRequest request, HandlerMethod handler) throws HttpMediaTypeNotSupportedException {
        if (operations.containsKey(Handler.of(handler, request.getMethod()))
                && request.getAttribute(UNREADABLE) instanceof HttpMediaTypeNotSupportedException unreadable) {
            throw unreadable;
        }
    }

    /**
     * Refuses to call a protected handler for a request that the filter took for another one: a controller has forwarded it, or
     * a filter further in has changed its path or method. It would run bare.
     */
    void checkSeen(HttpServletRequest request, HandlerMethod handler) {
        Operation operation = operations.get(Handler.of(handler, request.getMethod()));
        if (operation != null && request.getAttribute(SEEN) == null) {
            throw new IllegalStateException(operation.name()
                    + " is @Idempotent, but this request was another one when it passed the filter, so nothing protects it."
                    + " Order filters that change the path or the method before onlyonce.filter-order, and redirect to"
                    + " protected handlers instead of forwarding to them.");
        }
    }

    /** What Spring MVC allows pages of other origins for this request; null if it does not concern such, or nothing is said. */
    @Nullable
    CorsConfiguration cors(HttpServletRequest request) {
        HandlerExecutionChain chain = CorsUtils.isCorsRequest(request) ? chain(request) : null;
        for (HandlerInterceptor interceptor :
                chain == null ? List.<HandlerInterceptor>of() : chain.getInterceptorList()) {
            // Spring puts it there for handlers with @CrossOrigin and for mappings of a WebMvcConfigurer.
            if (interceptor instanceof CorsConfigurationSource source) {
                return source.getCorsConfiguration(request);
            }
        }
        return null;
    }

    private @Nullable HandlerMethod handler(HttpServletRequest request) {
        HandlerExecutionChain chain = chain(request);
        return chain != null && chain.getHandler() instanceof HandlerMethod method ? method : null;
    }

    private @Nullable HandlerExecutionChain chain(HttpServletRequest request) {
        if (!ServletRequestPathUtils.hasParsedRequestPath(request)) {
            ServletRequestPathUtils.parseAndCache(request);
        }
        for (RequestMappingHandlerMapping mapping : mappings) {
            try {
                HandlerExecutionChain chain = mapping.getHandler(request);
                if (chain != null) {
                    return chain;
                }
            } catch (Exception noMatch) {
                // Method or media type do not match: Spring will answer so when it is its turn.
                return null;
            }
        }
        return null;
    }
}
