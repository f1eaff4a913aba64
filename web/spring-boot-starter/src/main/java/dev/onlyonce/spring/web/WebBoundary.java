package dev.onlyonce.spring.web;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Limits;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.InvalidSettings;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Makes the boundary as the application is configured. */
public final class WebBoundary {
    private WebBoundary() {}

    /**
     * What is published.
     *
     * @param handled operations of handlers
     * @param elsewhere operations that the application executes by itself, for clients to know of
     */
    public record Published(List<Operation> handled, List<Operation> elsewhere) {}

    /**
     * What a request without a principal gets.
     *
     * @param tenant the one that it belongs to; null to refuse it
     * @param hint what a 401 says to developers
     */
    public record Anonymous(
            @Nullable String tenant, @Nullable String hint) {}

    public static Boundary of(OnlyonceProperties properties, Onlyonce once, Published published, Anonymous anonymous) {
        OnlyonceProperties.Limits limits = properties.limits();
        try {
            return Boundary.builder(once)
                    .operations(published.handled())
                    .operations(published.elsewhere().stream()
                            .map(operation -> asExecuted(once, operation))
                            .toList())
                    .anonymousTenant(anonymous.tenant())
                    .anonymousCredentials(
                            Objects.requireNonNullElse(properties.anonymousCredentials(), Boundary.CREDENTIALS))
                    .authenticationHint(anonymous.hint())
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
    }

    /** What is published is the policy that the engine executes it with, and no other that somebody wrote down beside it. */
    private static Operation asExecuted(Onlyonce once, Operation operation) {
        return once.registry()
                .ownPolicy(operation.name())
                .map(operation::policy)
                .orElse(operation);
    }
}
