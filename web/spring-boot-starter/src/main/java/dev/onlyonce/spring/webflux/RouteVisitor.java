package dev.onlyonce.spring.webflux;

import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.webflux.IdempotentHandler;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpMethod;
import org.springframework.web.reactive.function.server.HandlerFunction;
import org.springframework.web.reactive.function.server.RequestPredicate;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.util.pattern.PathPattern;
import org.springframework.web.util.pattern.PathPatternParser;
import reactor.core.publisher.Mono;

/** Finds functional routes with their methods and whole patterns, as Spring puts them together for nested routes. */
final class RouteVisitor implements RouterFunctions.Visitor {
    private final Consumer<Route> found;
    private final Deque<Condition> outer = new ArrayDeque<>();

    /**
     * A route for one method.
     *
     * @param pattern the whole path
     * @param operation the name that a protected one was given, empty for method and pattern; null if it is not protected
     */
    record Route(String method, String pattern, @Nullable String operation) {
        String name() {
            return method + " " + pattern;
        }
    }

    RouteVisitor(Consumer<Route> found) {
        this.found = found;
        outer.push(new Condition());
    }

    @Override
    public void startNested(RequestPredicate predicate) {
        outer.push(inner(predicate));
    }

    @Override
    public void endNested(RequestPredicate predicate) {
        outer.pop();
    }

    private Condition inner(RequestPredicate predicate) {
        Condition own = new Condition();
        predicate.accept(own);
        return own.within(outer.element());
    }

    @Override
    public void route(RequestPredicate predicate, HandlerFunction<?> handler) {
        Condition condition = inner(predicate);
        String operation = handler instanceof IdempotentHandler<?> idempotent ? idempotent.operation() : null;
        if (condition.isUnclear()) {
            if (operation != null) {
                throw new InvalidSettings(
                        "An idempotent functional route has no single method and path: " + predicate,
                        "Give it one of each, such as POST(\"/orders\", idempotent(orders::create)); other conditions"
                                + " may be added with and(…).",
                        null);
            }
            return;
        }
        for (String method : condition.methods) {
            found.accept(new Route(method, condition.pattern.getPatternString(), operation));
        }
    }

    @Override
    public void resources(Function<ServerRequest, Mono<Resource>> lookup) {}

    @Override
    public void attributes(Map<String, Object> attributes) {}

    @Override
    public void unknown(RouterFunction<?> function) {}

    /** The method and path of a predicate, as far as it is made of them. */
    private static final class Condition implements RequestPredicates.Visitor {
        private static final PathPattern NO_PATH = PathPatternParser.defaultInstance.parse("");

        private Set<String> methods = new TreeSet<>();
        private PathPattern pattern = NO_PATH;
        private int paths;
        private boolean alternative;

        Condition within(Condition around) {
            pattern = around.pattern.combine(pattern);
            methods = methods.isEmpty() ? around.methods : methods;
            alternative |= around.alternative;
            paths += around.paths;
            return this;
        }

        boolean isUnclear() {
            return alternative || methods.isEmpty() || paths == 0;
        }

        @Override
        public void method(Set<HttpMethod> some) {
            some.forEach(method -> methods.add(method.name()));
        }

        @Override
        public void path(String path) {
            paths++;
            pattern = pattern.combine(PathPatternParser.defaultInstance.parse(path));
        }

        @Override
        public void startOr() {
            alternative = true;
        }

        @Override
        public void startNegate() {
            alternative = true;
        }

        @Override
        @SuppressWarnings("removal")
        public void pathExtension(String extension) {}

        @Override
        public void header(String name, String value) {}

        @Override
        public void queryParam(String name, String value) {}

        @Override
        public void version(String version) {}

        @Override
        public void startAnd() {}

        @Override
        public void and() {}

        @Override
        public void endAnd() {}

        @Override
        public void or() {}

        @Override
        public void endOr() {}

        @Override
        public void endNegate() {}

        @Override
        public void unknown(RequestPredicate predicate) {}
    }
}
