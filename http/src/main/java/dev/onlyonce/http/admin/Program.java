package dev.onlyonce.http.admin;

import dev.onlyonce.http.Boundary;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The program that operators look into: what only it knows. Any number of threads. */
public interface Program {
    /** Nothing is known: the command line works on a store alone. */
    Program NONE = () -> "command line";

    /** {@code gateway}, {@code application} or {@code demo}. */
    String kind();

    /** Its version. */
    default String version() {
        String version = Program.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }

    /** What the time between claim and settlement is called: {@code handler} or {@code upstream}. */
    default String handlerName() {
        return "handler";
    }

    /** The operations that HTTP requests ask for; empty if there are none, or not yet. */
    default Optional<Boundary> boundary() {
        return Optional.empty();
    }

    /** What it counts. */
    default Map<String, Number> numbers() {
        return Map.of();
    }

    /** What is not protected, at most a few hundred. */
    default List<Operations.Unprotected> unprotected() {
        return List.of();
    }

    /** What it does about requests that no operation protects, in a sentence; empty for nothing. */
    default Optional<String> coverageRule() {
        return Optional.empty();
    }

    /** What one tenant may do on this node. */
    default List<Operations.Named> tenantLimits() {
        return List.of();
    }
}
