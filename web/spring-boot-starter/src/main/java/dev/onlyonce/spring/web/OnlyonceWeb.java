package dev.onlyonce.spring.web;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.OnlyonceFilter;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.OnlyonceProperties;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The filter and what it is made of; complete when all handlers are known. */
final class OnlyonceWeb implements WebProtection {
    private final HandlerOperations operations;
    private final Boundary boundary;
    private final OnlyonceFilter filter;
    private final String tenants;

    OnlyonceWeb(OnlyonceProperties properties, Onlyonce once, HandlerOperations operations, Outside outside) {
        this.operations = operations;
        boundary = WebBoundary.of(
                properties,
                once,
                new WebBoundary.Published(operations.all(), outside.published()),
                new WebBoundary.Anonymous(
                        outside.tenants() instanceof ServletTenants own
                                ? own.principals().anonymous()
                                : properties.anonymousTenant(),
                        outside.hint()));
        tenants = outside.tenants() instanceof ServletTenants own
                ? own.principals().described()
                : "the tenants of a " + TenantResolver.class.getSimpleName();
        filter = OnlyonceFilter.builder(boundary)
                .operations(operations)
                .tenants(outside.tenants())
                .errorPath(outside.errorPathInContext())
                .servletPath(outside.servletPath())
                .execution(new HandlerExecution(operations.plans(), outside.ways()))
                .build();
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

    @Override
    public String tenants() {
        return tenants;
    }

    OnlyonceFilter filter() {
        return filter;
    }

    @Override
    public Boundary boundary() {
        return boundary;
    }

    @Override
    public HandlerOperations operations() {
        return operations;
    }
}
