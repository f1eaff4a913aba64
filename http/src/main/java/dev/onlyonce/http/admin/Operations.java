package dev.onlyonce.http.admin;

import dev.onlyonce.http.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The operations, and what is not protected.
 *
 * @param coverageRule what the program does about requests that no operation protects
 */
public record Operations(
        List<OperationView> operations,
        List<Unprotected> unprotected,
        @Nullable String coverageRule) {
    /**
     * An operation.
     *
     * @param way how it is executed; none before its first use
     * @param reconciler who finds out about unknown outcomes
     * @param terms as clients see them
     * @param seen decisions on this node, by kind
     */
    public record OperationView(
            String operation,
            @Nullable String way,
            @Nullable String profile,
            List<Named> policy,
            List<Named> limits,
            String reconciler,
            @Nullable Map<String, Object> terms,
            Map<String, Long> seen) {}

    /** The limits that a tenant has. */
    public static List<Named> limits(Limits limits) {
        List<Named> named = new ArrayList<>();
        add(named, "New keys a second", limits.newKeysPerSecond());
        add(named, "Requests at once", limits.liveMax());
        add(named, "Stored keys", limits.storedMax());
        add(named, "Status look-ups a second", limits.lookUpsPerSecond());
        return named;
    }

    private static void add(List<Named> named, String name, int limit) {
        if (limit > 0) {
            named.add(new Named(name, Integer.toString(limit), null));
        }
    }

    /** A setting. */
    public record Named(String name, String value, @Nullable String explanation) {}

    /**
     * What is not protected.
     *
     * @param request such as {@code POST /orders/{id}}, or a handler
     * @param count how often this node has seen it
     * @param why why that is right
     * @param decided whether somebody has said so
     */
    public record Unprotected(
            String request,
            @Nullable Long count,
            @Nullable String lastAt,
            @Nullable String why,
            boolean decided) {}
}
