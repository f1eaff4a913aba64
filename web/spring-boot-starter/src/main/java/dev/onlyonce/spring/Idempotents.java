package dev.onlyonce.spring;

import java.util.Map;
import org.springframework.core.annotation.AnnotationUtils;

/** Annotations for what cannot be annotated. */
final class Idempotents {
    private Idempotents() {}

    /** With everything else by default. */
    static Idempotent named(String operation) {
        return AnnotationUtils.synthesizeAnnotation(Map.of("operation", operation), Idempotent.class, null);
    }
}
