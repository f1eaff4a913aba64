package dev.onlyonce.spring.web;

import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.Unprotected;
import dev.onlyonce.spring.operations.InvalidSettings;
import java.util.ArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.web.method.HandlerMethod;

/** Which handlers that change state are protected. */
public final class HandlerCoverage {
    private static final Logger log = LoggerFactory.getLogger(HandlerCoverage.class);

    private final Coverage coverage = new Coverage(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());

    /** This one is. */
    public void protect(String operation) {
        coverage.protectedHandlers().add(operation);
    }

    /** This one is not. */
    public void leave(HandlerMethod handler, String name) {
        if (handler.getBeanType().getName().startsWith("org.springframework.boot.")) {
            return;
        }
        Unprotected reason = AnnotatedElementUtils.findMergedAnnotation(handler.getMethod(), Unprotected.class);
        if (reason == null) {
            reason = AnnotatedElementUtils.findMergedAnnotation(handler.getBeanType(), Unprotected.class);
        }
        if (reason == null) {
            leave(name);
        } else {
            coverage.exempt().add(name + ": " + reason.value());
        }
    }

    /** A route is not. */
    public void leave(String name) {
        coverage.unprotectedHandlers().add(name);
    }

    public Coverage found() {
        return coverage;
    }

    /** Says which handlers are not protected, or refuses to go on. */
    public void report(Coverage.Mode mode) {
        if (coverage.unprotectedHandlers().isEmpty() || mode == Coverage.Mode.OFF) {
            return;
        }
        String missing = String.join(", ", coverage.unprotectedHandlers());
        if (mode == Coverage.Mode.REQUIRED) {
            throw new InvalidSettings(
                    "These handlers change state and are not protected: " + missing,
                    "Annotate them with @Idempotent, or with @Unprotected and the reason, or set onlyonce.coverage=report.",
                    null);
        }
        log.warn("These handlers change state and are not protected: {}", missing);
    }
}
