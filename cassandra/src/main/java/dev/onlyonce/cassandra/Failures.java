package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.auth.AuthenticationException;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.util.concurrent.CompletionException;

/** What is known after a request that failed. */
final class Failures {
    private Failures() {}

    /**
     * Of a write.
     *
     * <p>Nothing was changed if no node took it, if too few replicas were alive to begin with, or if the statement is wrong. Everything
     * else, above all a time-out, may have changed the entry: the driver does not repeat these statements by itself.
     */
    static StoreException ofWrite(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof StoreException known) {
            return known;
        }
        String message = message(cause);
        if (cause instanceof QueryValidationException) {
            return new StoreRejected("Cassandra refuses the statement: " + message, cause);
        }
        if (cause instanceof UnavailableException
                || cause instanceof AllNodesFailedException
                || cause instanceof RequestThrottlingException
                || cause instanceof AuthenticationException) {
            return new StoreUnavailable("Cassandra cannot be used: " + message, cause);
        }
        return new StoreOutcomeUnknown("Cassandra did not answer: " + message, cause);
    }

    /** Of a read, which changes nothing. */
    static StoreException ofRead(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof StoreRejected rejected) {
            return rejected;
        }
        return cause instanceof QueryValidationException
                ? new StoreRejected("Cassandra refuses the statement: " + message(cause), cause)
                : new StoreUnavailable("Cassandra cannot be used: " + message(cause), cause);
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    static String message(Throwable failure) {
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }
}
