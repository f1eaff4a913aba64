package dev.onlyonce.dynamodb;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.retry.RetryUtils;
import software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;
import software.amazon.awssdk.services.dynamodb.model.TransactionConflictException;
import software.amazon.awssdk.services.dynamodb.model.TransactionInProgressException;

/** What an exception of the SDK says about the outcome of a request. */
final class ServiceFailure {
    private static final Set<String> CREDENTIALS = Set.of(
            "UnrecognizedClientException",
            "InvalidSignatureException",
            "IncompleteSignatureException",
            "MissingAuthenticationTokenException",
            "ExpiredTokenException");

    /** Reasons to cancel a transaction that have nothing to do with what it writes. */
    private static final Set<String> PASSING =
            Set.of("None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded");

    static final String CONNECTION_LOST = "the connection was lost";

    private ServiceFailure() {}

    /** The exception itself, without the wrappers of futures. */
    static Throwable cause(Throwable thrown) {
        return thrown instanceof CompletionException && thrown.getCause() != null ? cause(thrown.getCause()) : thrown;
    }

    /** Whether the service refused because of load, or of a transaction on the same item: nothing was changed. */
    static boolean isBusy(Throwable cause) {
        return isThrottled(cause)
                || cause instanceof TransactionConflictException
                || cause instanceof TransactionInProgressException;
    }

    private static boolean isThrottled(@Nullable Throwable cause) {
        return cause instanceof SdkException e && RetryUtils.isThrottlingException(e);
    }

    /** The answer for a claim that was not recorded. One that was throttled says nothing about its key, so it is not in flight. */
    static ClaimResult refusedClaim(StoreException failure) {
        return isThrottled(failure.getCause())
                ? new ClaimResult.Unavailable(String.valueOf(failure.getMessage()))
                : ClaimResult.refused(failure);
    }

    /** Whether the request may have been executed although it failed. */
    static boolean isAmbiguous(Throwable cause) {
        if (cause instanceof StoreException || isBusy(cause)) {
            return cause instanceof StoreOutcomeUnknown;
        }
        if (cause instanceof AwsServiceException e) {
            return e.statusCode() >= 500;
        }
        return find(ConnectException.class, cause) == null && find(UnknownHostException.class, cause) == null;
    }

    /** For the caller of a store. */
    static StoreException of(Throwable thrown) {
        Throwable cause = cause(thrown);
        if (cause instanceof StoreException known) {
            return known;
        }
        String message = "DynamoDB: " + message(cause);
        if (isBusy(cause)) {
            return new StoreBusy(message, cause);
        } else if (isAmbiguous(cause)) {
            return new StoreOutcomeUnknown(message, cause);
        } else if (cause instanceof AwsServiceException e && code(e).equals("ValidationException")) {
            return new StoreRejected(message, cause);
        }
        return new StoreUnavailable(message, cause);
    }

    /**
     * For the caller of a transaction that was cancelled: nothing was written. The last reason is the entry's: its claim was lost. Load
     * and conflicts pass. Everything else is about the caller's own writes, and the SDK's exception says what.
     */
    static RuntimeException ofCancelled(TransactionCanceledException e) {
        List<String> codes = e.cancellationReasons().stream()
                .map(reason -> String.valueOf(reason.code()))
                .toList();
        if (!codes.isEmpty() && codes.get(codes.size() - 1).equals("ConditionalCheckFailed")) {
            return new StoreUnavailable(
                    "The claim was lost before its transaction, which was not executed; the next request is answered",
                    e);
        }
        return !codes.isEmpty() && PASSING.containsAll(codes)
                ? new StoreBusy("DynamoDB: the transaction was not executed: " + e.getMessage(), e)
                : e;
    }

    /** For a read, which changes nothing. */
    static StoreException ofRead(Throwable thrown) {
        StoreException failure = of(thrown);
        return failure instanceof StoreOutcomeUnknown
                ? new StoreUnavailable(String.valueOf(failure.getMessage()), failure.getCause())
                : failure;
    }

    private static String message(Throwable cause) {
        if (cause instanceof ResourceNotFoundException) {
            return "the table or its index does not exist in this region and account: create it with \"onlyonce schema"
                    + " apply\" ("
                    + cause.getMessage() + ")";
        } else if (cause instanceof AwsServiceException e) {
            String code = code(e);
            if (CREDENTIALS.contains(code)) {
                return "it refuses the credentials: " + code + ", " + e.getMessage();
            } else if (code.equals("AccessDeniedException")) {
                return "the credentials are not allowed to do this, see the policy in docs/reference/dynamodb.md: "
                        + e.getMessage();
            }
            return code + ", " + e.getMessage();
        }
        SSLException tls = find(SSLException.class, cause);
        if (tls != null) {
            return "no TLS connection: " + tls.getMessage();
        }
        ConnectException refused = find(ConnectException.class, cause);
        if (refused != null) {
            return "no connection: " + refused.getMessage();
        }
        UnknownHostException unknown = find(UnknownHostException.class, cause);
        if (unknown != null) {
            return "there is no such host, is the region right? " + unknown.getMessage();
        }
        return find(IOException.class, cause) == null
                ? String.valueOf(cause.getMessage())
                : CONNECTION_LOST + ": " + cause.getMessage();
    }

    private static String code(AwsServiceException e) {
        return e.awsErrorDetails() == null
                ? "status " + e.statusCode()
                : String.valueOf(e.awsErrorDetails().errorCode());
    }

    private static <T extends Throwable> @Nullable T find(Class<T> type, @Nullable Throwable thrown) {
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return type.cast(each);
            }
        }
        return null;
    }
}
