package dev.onlyonce.spring.webflux;

import dev.onlyonce.Key;
import dev.onlyonce.Way;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.spring.Queued;
import dev.onlyonce.spring.operations.ChosenWay;
import dev.onlyonce.spring.operations.HandlerPlan;
import dev.onlyonce.spring.operations.Idempotents;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.spring.transactions.KnownOperations;
import dev.onlyonce.spring.web.HandlerCoverage;
import dev.onlyonce.spring.web.WebProtection;
import dev.onlyonce.sql.steps.StepRunner;
import dev.onlyonce.webflux.ReactiveOperationResolver;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The operations of WebFlux handlers and functional routes. A request is matched by asking Spring itself where it goes. */
final class ReactiveOperations implements ReactiveOperationResolver, WebProtection.Handlers {
    private static final Set<RequestMethod> STATE_CHANGING = Set.of(RequestMethod.POST, RequestMethod.PATCH);
    private static final String WITHOUT_KEY_OR_WAY = "Remove it and use way = LEASED, or use Spring MVC.";

    private final List<HandlerMapping> mappings;
    private final OperationFactory factory;
    private final KnownOperations known;
    private final Map<String, HandlerPlan> plans = new LinkedHashMap<>();
    private final Map<Handler, Operation> handlers = new LinkedHashMap<>();
    private final Map<String, Operation> routes = new LinkedHashMap<>();
    private final Set<String> methods = new HashSet<>();
    private final HandlerCoverage coverage = new HandlerCoverage();

    /** A method of a controller (which may have inherited it), as asked for by an HTTP method. */
    private record Handler(Class<?> controller, Method method, String httpMethod) {
        static Handler of(HandlerMethod handler, String httpMethod) {
            return new Handler(handler.getBeanType(), handler.getMethod(), httpMethod);
        }
    }

    ReactiveOperations(
            List<HandlerMapping> mappings,
            List<RouterFunction<?>> functions,
            OperationFactory factory,
            KnownOperations known) {
        this.mappings = mappings;
        this.factory = factory;
        this.known = known;
        for (HandlerMapping mapping : mappings) {
            if (mapping instanceof RequestMappingHandlerMapping annotated) {
                annotated.getHandlerMethods().entrySet().stream()
                        .sorted(Comparator.comparing(entry -> entry.getKey().toString()))
                        .forEach(entry -> add(entry.getKey(), entry.getValue()));
            }
        }
        for (RouterFunction<?> function : functions) {
            function.accept(new RouteVisitor(this::add));
        }
    }

    private void add(RequestMappingInfo info, HandlerMethod handler) {
        Idempotent own = AnnotatedElementUtils.findMergedAnnotation(handler.getMethod(), Idempotent.class);
        Idempotent annotation =
                own != null ? own : AnnotatedElementUtils.findMergedAnnotation(handler.getBeanType(), Idempotent.class);
        Set<RequestMethod> mapped = info.getMethodsCondition().getMethods();
        for (RequestMethod method : mapped.isEmpty() ? STATE_CHANGING : mapped) {
            String path = info.getPatternsCondition().getPatterns().stream()
                    .map(PathPattern::getPatternString)
                    .sorted()
                    .findFirst()
                    .orElse("/**");
            boolean changing = STATE_CHANGING.contains(method);
            if (annotation != null && (own != null || changing)) {
                Operation operation = factory.operation(annotation, method.name(), rooted(path));
                check(annotation, info, handler, operation);
                handlers.put(Handler.of(handler, operation.method()), operation);
                protect(operation);
            } else if (changing) {
                coverage.leave(handler, method + " " + path);
            }
        }
    }

    private void add(RouteVisitor.Route route) {
        boolean changing = STATE_CHANGING.stream().anyMatch(some -> some.name().equals(route.method()));
        if (route.operation() == null) {
            if (changing) {
                coverage.leave(route.name());
            }
            return;
        }
        Operation operation = factory.operation(Idempotents.named(route.operation()), route.method(), route.pattern());
        routes.put(route.name(), operation);
        protect(operation);
    }

    private void protect(Operation operation) {
        plans.put(operation.name(), new HandlerPlan(ChosenWay.leased(), operation.name()));
        known.declare(operation.name(), operation.policy(), Way.LEASED);
        known.declareFormer(operation.formerly(), operation.policy(), Way.LEASED);
        methods.add(operation.method());
        coverage.protect(operation.name());
    }

    private void check(Idempotent annotation, RequestMappingInfo info, HandlerMethod handler, Operation operation) {
        String name = handler.getShortLogMessage();
        if (!annotation.key().isEmpty()) {
            throw new InvalidSettings(
                    name
                            + " handles requests, whose key is the Idempotency-Key header, but its @Idempotent has key = \""
                            + annotation.key() + "\"",
                    "Remove the key, or put @Idempotent on a method of a bean that is no controller.",
                    null);
        }
        if (info.getProducesCondition().getProducibleMediaTypes().stream()
                .anyMatch(MediaType.TEXT_EVENT_STREAM::includes)) {
            throw new InvalidSettings(
                    name + " streams its response, which cannot be recorded and replayed",
                    "Remove @Idempotent there. Accept the command with a protected POST that answers at once, and stream"
                            + " from a GET.",
                    null);
        }
        if (handler.getReturnType().getParameterType() == Queued.class
                || Arrays.stream(handler.getMethodParameters())
                        .anyMatch(parameter -> parameter.getParameterType() == Key.class
                                || parameter.getParameterType() == StepRunner.class)) {
            throw new InvalidSettings(
                    name + " has a Queued, Key or StepRunner in its signature, which Spring WebFlux does not give it",
                    WITHOUT_KEY_OR_WAY,
                    null);
        }
        Way way = known.choose(annotation, handler.getMethod(), handler.getBeanType(), operation.name())
                .way();
        if (way == Way.LEASED) {
            return;
        }
        if (annotation.way().length > 0) {
            throw new InvalidSettings(
                    name + " cannot run the " + way + " way: a handler of Spring WebFlux changes threads, which a"
                            + " transaction cannot follow",
                    WITHOUT_KEY_OR_WAY,
                    null);
        }
        known.downgrade(operation.name(), "it is a handler of Spring WebFlux, which a transaction cannot follow");
    }

    private static String rooted(String path) {
        return path.startsWith("/") ? path : "/" + path;
    }

    @Override
    public List<Operation> all() {
        List<Operation> all = new ArrayList<>(handlers.values());
        all.addAll(routes.values());
        return all;
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
    public Mono<Operation> operation(ServerWebExchange exchange) {
        String method = exchange.getRequest().getMethod().name();
        if (!methods.contains(method)) {
            return Mono.empty();
        }
        Map<String, Object> attributes = new HashMap<>(exchange.getAttributes());
        return Flux.fromIterable(mappings)
                .concatMap(mapping -> mapping.getHandler(exchange))
                .next()
                .flatMap(handler -> Mono.justOrEmpty(find(handler, method, exchange)))
                // Method or media type do not match: Spring will answer so when it is its turn.
                .onErrorComplete()
                .doOnTerminate(() -> {
                    // A route that is matched twice would be reported with its pattern twice.
                    exchange.getAttributes().clear();
                    exchange.getAttributes().putAll(attributes);
                });
    }

    private Optional<Operation> find(Object handler, String method, ServerWebExchange exchange) {
        if (handler instanceof HandlerMethod annotated) {
            return Optional.ofNullable(handlers.get(Handler.of(annotated, method)));
        }
        return exchange.getAttribute(RouterFunctions.MATCHING_PATTERN_ATTRIBUTE) instanceof PathPattern pattern
                ? Optional.ofNullable(routes.get(method + " " + pattern.getPatternString()))
                : Optional.empty();
    }
}
