package dev.onlyonce.jaxrs;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Way;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.http.Profile;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.container.DynamicFeature;
import jakarta.ws.rs.container.ResourceInfo;
import jakarta.ws.rs.container.Suspended;
import jakarta.ws.rs.core.Feature;
import jakarta.ws.rs.core.FeatureContext;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Protects the resource methods of a JAX-RS application that are {@link Idempotent}. Register it in the application.
 *
 * <p>A protected request's body and response are held in memory within the operation's bounds; a larger response goes to a temporary
 * file. Nothing reaches the client before the entry is durable. {@code GET} on {@link Boundary#SPECIFICATION_PATH} and on the
 * boundary's status path is answered too. Filters that authenticate must be {@code @PreMatching} for the latter, and have a
 * priority below {@value ProtectedMethod#PRIORITY} for both.
 */
public final class OnlyonceFeature implements Feature {
    private static final Set<String> STATE_CHANGING = Set.of("POST", "PATCH");

    private final Onlyonce once;
    private final TenantOf tenants;
    private final UnaryOperator<Boundary.Builder> settings;
    private final Map<String, UnaryOperator<Operation.Builder>> changes;
    private final Map<String, Operation> operations = new ConcurrentHashMap<>();
    /** Receives each operation with its request; the JAX-RS implementation matches paths. */
    private final Boundary boundary;

    private @Nullable Boundary published;

    private OnlyonceFeature(Builder builder) {
        once = builder.once;
        tenants = builder.tenants;
        settings = builder.settings;
        changes = Map.copyOf(builder.changes);
        boundary = settings.apply(Boundary.builder(once)).build();
    }

    /** Starts with the principal as the tenant. */
    public static Builder builder(Onlyonce once) {
        return new Builder(once);
    }

    @Override
    public boolean configure(FeatureContext context) {
        NotedExceptions noted = new NotedExceptions();
        ProtectedMethod.Shared shared = new ProtectedMethod.Shared(boundary, tenants, noted);
        context.register((DynamicFeature) (resource, method) -> protect(resource, method, shared));
        context.register(new UnansweredExceptions());
        context.register(noted);
        context.register(new PublishedAnswers(this::published, tenants));
        return true;
    }

    private void protect(ResourceInfo resource, FeatureContext context, ProtectedMethod.Shared shared) {
        Method method = resource.getResourceMethod();
        String verb = verb(method);
        Idempotent own = annotation(method, Idempotent.class);
        Idempotent annotation = own != null ? own : resource.getResourceClass().getAnnotation(Idempotent.class);
        if (verb == null || annotation == null || (own == null && !STATE_CHANGING.contains(verb))) {
            return;
        }
        Operation operation = operation(annotation, verb, path(resource.getResourceClass(), method));
        Operation known = operations.putIfAbsent(operation.name(), operation);
        if (known != null && !(known.method() + known.path()).equals(operation.method() + operation.path())) {
            throw new IllegalStateException("there are two operations named " + operation.name());
        }
        once.registry().declare(operation.name(), operation.policy(), Way.LEASED);
        boolean suspends = Arrays.stream(method.getParameterAnnotations())
                .flatMap(Arrays::stream)
                .anyMatch(Suspended.class::isInstance);
        context.register(new ProtectedMethod(operation, suspends, shared), ProtectedMethod.PRIORITY);
    }

    private Operation operation(Idempotent annotation, String verb, String path) {
        String name = annotation.operation().isEmpty() ? verb + " " + path : annotation.operation();
        Operation.Builder builder = Operation.builder(verb, path)
                .name(name)
                .scope(annotation.scope())
                .profile(Profile.of(annotation.profile()));
        return changes.getOrDefault(name, UnaryOperator.identity())
                .apply(builder)
                .build();
    }

    /** The HTTP method that the method is annotated with; null if it is a locator of resources. */
    private static @Nullable String verb(Method method) {
        for (Class<?> type = method.getDeclaringClass(); type != null; type = type.getSuperclass()) {
            for (Annotation one : annotations(type, method)) {
                HttpMethod verb = one.annotationType().getAnnotation(HttpMethod.class);
                if (verb != null) {
                    return verb.value();
                }
            }
        }
        return null;
    }

    private static <A extends Annotation> @Nullable A annotation(Method method, Class<A> annotation) {
        for (Class<?> type = method.getDeclaringClass(); type != null; type = type.getSuperclass()) {
            for (Annotation one : annotations(type, method)) {
                if (annotation.isInstance(one)) {
                    return annotation.cast(one);
                }
            }
        }
        return null;
    }

    /** JAX-RS inherits annotations of methods from classes and interfaces. */
    private static List<Annotation> annotations(Class<?> type, Method method) {
        List<Annotation> found = new ArrayList<>();
        addTo(found, type, method);
        for (Class<?> above : type.getInterfaces()) {
            addTo(found, above, method);
        }
        return found;
    }

    private static void addTo(List<Annotation> found, Class<?> type, Method method) {
        try {
            found.addAll(List.of(type.getDeclaredMethod(method.getName(), method.getParameterTypes())
                    .getAnnotations()));
        } catch (NoSuchMethodException inheritedFurtherUp) {
            // The next class has it.
        }
    }

    private static String path(Class<?> resource, Method method) {
        Path outer = resource.getAnnotation(Path.class);
        Path inner = annotation(method, Path.class);
        String whole = "/" + (outer == null ? "" : outer.value()) + "/" + (inner == null ? "" : inner.value());
        String plain = whole.replaceAll("\\{\\s*([\\w.-]+)\\s*(:[^{}]*(\\{[^{}]*}[^{}]*)*)?}", "{$1}")
                .replaceAll("/{2,}", "/");
        return plain.length() > 1 && plain.endsWith("/") ? plain.substring(0, plain.length() - 1) : plain;
    }

    /** With the operations of all methods that the application has shown. */
    private synchronized Boundary published() {
        Boundary known = published;
        if (known == null || known.operations().size() != operations.size()) {
            known = publication();
            published = known;
        }
        return known;
    }

    private Boundary publication() {
        return settings.apply(Boundary.builder(once).operations(List.copyOf(operations.values())))
                .build();
    }

    /** Builds an {@link OnlyonceFeature}. */
    public static final class Builder {
        private final Onlyonce once;
        private TenantOf tenants = TenantOf.principal();
        private UnaryOperator<Boundary.Builder> settings = UnaryOperator.identity();
        private final Map<String, UnaryOperator<Operation.Builder>> changes = new HashMap<>();

        private Builder(Onlyonce once) {
            this.once = requireNonNull(once, "once");
        }

        /** Who a key belongs to. */
        public Builder tenants(TenantOf tenants) {
            this.tenants = tenants;
            return this;
        }

        /** Limits, the tenant of anonymous callers, and whatever else concerns all operations. */
        public Builder boundary(UnaryOperator<Boundary.Builder> settings) {
            this.settings = settings;
            return this;
        }

        /** What differs for one operation, by its name. */
        public Builder operation(String name, UnaryOperator<Operation.Builder> change) {
            changes.put(name, change);
            return this;
        }

        /** Builds it. */
        public OnlyonceFeature build() {
            return new OnlyonceFeature(this);
        }
    }
}
