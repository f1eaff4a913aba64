package dev.onlyonce.spring;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Limits;
import dev.onlyonce.http.Operation;
import dev.onlyonce.servlet.OnlyonceFilter;
import dev.onlyonce.servlet.TenantResolver;
import java.util.List;
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
                    .operations(outside.published())
                    .anonymous(properties.anonymousTenant())
                    .statusPath(properties.statusPath())
                    .limits(new Limits(
                            limits.newKeysPerSecond(), limits.liveMax(), limits.storedMax(), limits.lookUpsPerSecond()))
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
                .errorPath(outside.errorPath())
                .transactions(
                        outside.way() == null
                                ? null
                                : new HandlerTransactions(outside.way(), operations.transactions()))
                .build();
    }

    /**
     * What the application around it says.
     *
     * @param tenants who a key belongs to
     * @param errorPath where errors are rendered
     * @param way how handlers run in one transaction with their entries, if they can
     * @param published operations that the application executes by itself, for clients to know of
     */
    record Outside(
            TenantResolver tenants,
            String errorPath,
            @Nullable TransactionalWay way,
            List<Operation> published) {}

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
