package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.auth.AuthenticationException;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** What is known after a request that failed. */
final class Failures {
    private Failures() {}

    /**
     * Of a write.
     *
     * <p>Nothing was changed if no node took it, if too few replicas were alive to begin with, if the user has no right to it, which is
     * also what Cassandra says while it cannot read its table of rights, or if the statement is wrong. Everything else, above all a time-
     * out, may have changed the entry: the driver sends a transaction again only if a node took none, saw too few replicas, or could not
     * read.
     */
    static StoreException ofWrite(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof StoreException known) {
            return known;
        }
        String message = message(cause);
        if (cause instanceof QueryValidationException && !(cause instanceof UnauthorizedException)) {
            return new StoreRejected("Cassandra refuses the statement: " + message, cause);
        }
        ExecutionInfo execution = cause instanceof DriverException driver ? driver.getExecutionInfo() : null;
        if (isAfterTheOrder(cause) || (execution != null && wasAfterTheOrder(execution))) {
            return new StoreOutcomeUnknown("Cassandra could not finish: " + message, cause);
        }
        if (cause instanceof UnavailableException
                || cause instanceof UnauthorizedException
                || cause instanceof AllNodesFailedException
                || cause instanceof RequestThrottlingException
                || cause instanceof AuthenticationException) {
            return new StoreUnavailable("Cassandra cannot be used: " + message, cause);
        }
        return new StoreOutcomeUnknown("Cassandra did not answer: " + message, cause);
    }

    /** Whether a node that the driver asked before another one may have agreed upon the transaction. */
    static boolean wasAfterTheOrder(ExecutionInfo execution) {
        return execution.getErrors().stream().anyMatch(each -> isAfterTheOrder(each.getValue()));
    }

    /**
     * Whether replicas were too few or too slow when the transaction may have been agreed upon: at the consistency of its read or commit,
     * no more at that of its order.
     */
    private static boolean isAfterTheOrder(Throwable cause) {
        return cause instanceof ReadTimeoutException
                || (cause instanceof UnavailableException few
                        && !few.getConsistencyLevel().isSerial());
    }

    /** Of a read, which changes nothing. */
    static StoreException ofRead(Throwable failure) {
        Throwable cause = cause(failure);
        if (cause instanceof StoreRejected rejected) {
            return rejected;
        }
        return cause instanceof QueryValidationException && !(cause instanceof UnauthorizedException)
                ? new StoreRejected("Cassandra refuses the statement: " + message(cause), cause)
                : new StoreUnavailable("Cassandra cannot be used: " + message(cause), cause);
    }

    /**
     * Whether the cluster answered that the replicas of this partition are too few or too slow. Other entries may be on other nodes, so the
     * store as a whole can be used.
     */
    static boolean isOfReplicas(StoreException failure) {
        Throwable cause = failure.getCause();
        if (failure instanceof StoreUnavailable && cause instanceof AllNodesFailedException all) {
            List<Throwable> errors =
                    all.getAllErrors().values().stream().flatMap(List::stream).toList();
            return errors.stream().anyMatch(Failures::isFromCoordinator);
        }
        return failure instanceof StoreUnavailable && isFromCoordinator(cause);
    }

    private static boolean isFromCoordinator(@Nullable Throwable cause) {
        return cause instanceof UnavailableException
                || cause instanceof ReadTimeoutException
                || cause instanceof ReadFailureException
                || cause instanceof WriteTimeoutException
                || cause instanceof WriteFailureException;
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    static String message(Throwable failure) {
        return failure.getMessage() == null ? failure.toString() : failure.getMessage();
    }
}
