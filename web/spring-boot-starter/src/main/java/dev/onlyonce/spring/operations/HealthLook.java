package dev.onlyonce.spring.operations;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What one health indicator looks at, for Spring Boot 4 and for 3.5, which have the interface in different packages. */
public interface HealthLook {
    /** Looks. What it throws means down too. */
    Report check();

    /**
     * What it has found.
     *
     * @param trouble why it is down; null if it is up
     */
    record Report(Map<String, Object> details, @Nullable Exception trouble) {}
}
