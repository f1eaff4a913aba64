package dev.onlyonce.spring.store;

import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.core.AuthenticationException;
import org.springframework.util.ClassUtils;

/** Exceptions of Spring Security: a method that access was denied to has not run. */
final class SecurityFailures {
    private SecurityFailures() {}

    static boolean isPresent() {
        return ClassUtils.isPresent(
                "org.springframework.security.access.AccessDeniedException", SecurityFailures.class.getClassLoader());
    }

    static boolean provesNoEffect(Throwable thrown) {
        return thrown instanceof AccessDeniedException || thrown instanceof AuthenticationException;
    }
}
