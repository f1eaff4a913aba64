package dev.onlyonce.http;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Finds the operation of a request by its method and path. Servers read odd paths differently, so a request belongs to an
 * operation if any {@linkplain PathReadings reading} of its path does. Immutable.
 */
final class Routes {
    private final List<Route> routes;
    private final Map<String, List<Route>> byMethod;

    private record Route(PathTemplate template, Operation operation) {}

    /** Where several operations match, the first one counts. */
    Routes(Collection<Operation> operations) {
        routes = operations.stream()
                .map(operation -> new Route(new PathTemplate(operation.path()), operation))
                .toList();
        byMethod = routes.stream()
                .collect(Collectors.groupingBy(
                        route -> route.operation().method().toUpperCase(Locale.ROOT)));
    }

    List<Operation> operations() {
        return routes.stream().map(Route::operation).toList();
    }

    /** The operation with this name, or that had it. */
    Optional<Operation> named(String name) {
        Optional<Operation> now = operations().stream()
                .filter(operation -> operation.name().equals(name))
                .findFirst();
        return now.isPresent()
                ? now
                : operations().stream()
                        .filter(operation -> operation.formerly().contains(name))
                        .findFirst();
    }

    Optional<Operation> find(String method, String path) {
        List<Route> candidates = candidates(method);
        if (candidates.isEmpty()) {
            return Optional.empty();
        }
        return PathReadings.isTooOdd(path) ? first(candidates) : find(candidates, PathReadings.of(path));
    }

    /** In an application below a context path; see {@link Boundary#operation(String, String, String, String)}. */
    Optional<Operation> find(String method, String contextPath, String uri, String inner) {
        List<Route> candidates = candidates(method);
        if (candidates.isEmpty()) {
            return Optional.empty();
        }
        if (PathReadings.isTooOdd(uri) || PathReadings.isTooOdd(inner)) {
            return first(candidates);
        }
        int above = PathReadings.of(contextPath).get(0).size();
        List<List<String>> readings = new ArrayList<>(PathReadings.of(inner));
        for (List<String> whole : PathReadings.of(uri)) {
            // The container has found that it begins with the context path; its spelling does not matter.
            readings.add(whole.subList(Math.min(above, whole.size()), whole.size()));
        }
        return find(candidates, readings);
    }

    boolean isAmbiguous(String method, String path) {
        if (PathReadings.isPlain(path)) {
            return false;
        }
        List<Route> candidates = candidates(method);
        if (candidates.isEmpty() || PathReadings.isTooOdd(path)) {
            return !candidates.isEmpty();
        }
        List<List<String>> readings = PathReadings.of(path);
        Optional<Operation> usual = find(candidates, readings.subList(0, 1));
        return readings.stream()
                .skip(1)
                .anyMatch(reading -> !find(candidates, List.of(reading)).equals(usual));
    }

    /** Some servers ignore the case of methods. */
    private List<Route> candidates(String method) {
        List<Route> candidates = byMethod.get(method);
        return candidates != null ? candidates : byMethod.getOrDefault(method.toUpperCase(Locale.ROOT), List.of());
    }

    /** For a path that a server may read as any other. */
    private static Optional<Operation> first(List<Route> candidates) {
        return Optional.of(candidates.get(0).operation());
    }

    private static Optional<Operation> find(List<Route> candidates, List<List<String>> readings) {
        for (Route route : candidates) {
            for (List<String> reading : readings) {
                if (route.template().matches(reading)) {
                    return Optional.of(route.operation());
                }
            }
        }
        return Optional.empty();
    }
}
