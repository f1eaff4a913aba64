package dev.onlyonce.spring.operations;

import dev.onlyonce.spring.Idempotent;
import java.util.Map;
import org.springframework.core.annotation.AnnotationUtils;

/** Annotations for what cannot be annotated. */
public final class Idempotents {
    private Idempotents() {}

    /** With everything else by default. */
    public static Idempotent named(String operation) {
        return AnnotationUtils.synthesizeAnnotation(Map.of("operation", operation), Idempotent.class, null);
    }
}
