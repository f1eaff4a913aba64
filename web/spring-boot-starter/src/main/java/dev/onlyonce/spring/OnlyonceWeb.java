package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Limits;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.OnlyonceFilter;
import dev.onlyonce.servlet.TenantResolver;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The filter and what it is made of; complete when all handlers are known. */
final class OnlyonceWeb {
    private final HandlerOperations operations;
    private final Boundary boundary;
    private final OnlyonceFilter filter;

    OnlyonceWeb(OnlyonceProperties properties, Onlyonce once, HandlerOperations operations, Outside outside) {
        this.operations = operations;
        OnlyonceProperties.Limits limits = properties.limits();
        try {
            boundary = Boundary.builder(once)
                    .operations(operations.all())
                    .operations(outside.published().stream()
                            .map(operation -> asExecuted(once, operation))
                            .toList())
                    .anonymousTenant(properties.anonymousTenant())
                    .anonymousCredentials(
                            Objects.requireNonNullElse(properties.anonymousCredentials(), Boundary.CREDENTIALS))
                    .authenticationHint(outside.hint())
                    .statusPath(properties.statusPath())
                    .limits(Limits.builder()
                            .newKeysPerSecond(limits.newKeysPerSecond())
                            .liveMax(limits.liveMax())
                            .storedMax(limits.storedMax())
                            .lookUpsPerSecond(limits.lookUpsPerSecond())
                            .build())
                    .build();
        } catch (IllegalArgumentException e) {
            throw new InvalidSettings(
                    "The protected handlers do not fit together: " + e.getMessage(),
                    "Give each handler a name of its own with @Idempotent(operation = \"...\"), or correct onlyonce.*.",
                    e);
        }
        filter = OnlyonceFilter.builder(boundary)
                .operations(operations)
                .tenants(outside.tenants())
                .errorPath(outside.errorPathInContext())
                .servletPath(outside.servletPath())
                .execution(new HandlerExecution(operations.plans(), outside.ways()))
                .build();
    }

    /** What is published is the policy that the engine executes it with, and no other that somebody wrote down beside it. */
    private static Operation asExecuted(Onlyonce once, Operation operation) {
        return once.registry()
                .ownPolicy(operation.name())
                .map(operation::policy)
                .orElse(operation);
    }

    /**
     * What the application around it says.
     *
     * @param tenants who a key belongs to
     * @param errorPath where errors are rendered
     * @param servletPath where Spring MVC is, such as {@code /api}
     * @param ways how handlers run that are not leased
     * @param published operations that the application executes by itself, for clients to know of
     * @param hint what a 401 says to developers
     */
    record Outside(
            TenantResolver tenants,
            String errorPath,
            String servletPath,
            HandlerExecution.Ways ways,
            List<Operation> published,
            @Nullable String hint) {

        /** As Spring Boot registers it: below Spring MVC. */
        String errorPathInContext() {
            String prefix =
                    servletPath.endsWith("/") ? servletPath.substring(0, servletPath.length() - 1) : servletPath;
            return prefix + (errorPath.startsWith("/") ? "" : "/") + errorPath;
        }
    }

    OnlyonceFilter filter() {
        return filter;
    }

    Boundary boundary() {
        return boundary;
    }

    HandlerOperations operations() {
        return operations;
    }
}
