package dev.onlyonce.spring;

import java.util.List;

/**
 * Which POST and PATCH handlers, or which listeners of messages, are protected: a flow with one unprotected call is not protected.
 *
 * @param protectedHandlers those with an operation
 * @param unprotectedHandlers those without one, and without a reason
 * @param exempt those that are {@link Unprotected} on purpose, with the reason
 */
public record Coverage(List<String> protectedHandlers, List<String> unprotectedHandlers, List<String> exempt) {

    /** What to do about handlers that are not protected. */
    public enum Mode {
        /** Says so at start-up and in the actuator. */
        REPORT,
        /** Refuses to start. */
        REQUIRED,
        /** Nothing at start-up. */
        OFF
    }
}
