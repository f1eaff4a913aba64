package dev.onlyonce.spring.web;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Operation;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.spring.operations.HandlerPlan;
import java.util.List;
import java.util.Map;

/** What protects the application's handlers, whichever of Spring's web frameworks calls them. */
public interface WebProtection {
    /** The protected handlers. */
    Handlers operations();

    /** What decides on their requests. */
    Boundary boundary();

    /** Whom keys belong to, in words. */
    String tenants();

    /** Handlers of requests. */
    interface Handlers {
        /** The operations of the protected ones. */
        List<Operation> all();

        /** How each is executed, by name. */
        Map<String, HandlerPlan> plans();

        /** Which are protected, and which are not. */
        Coverage coverage();
    }
}
