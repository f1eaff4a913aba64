package dev.onlyonce.sqs;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.retry.RetryUtils;

/** What an exception of the SDK says about a request. */
final class ServiceFailure {
    private ServiceFailure() {}

    /** The exception itself, without the wrappers of futures. */
    static Throwable cause(Throwable thrown) {
        boolean wrapped = thrown instanceof CompletionException || thrown instanceof ExecutionException;
        return wrapped && thrown.getCause() != null ? cause(thrown.getCause()) : thrown;
    }

    /** Whether the service will not take the request as it is, however often it is sent. */
    static boolean isRefused(Throwable thrown) {
        return cause(thrown) instanceof AwsServiceException e
                && e.statusCode() >= 400
                && e.statusCode() < 500
                && !RetryUtils.isThrottlingException(e);
    }

    /** Whether it is proven that the request was not executed. */
    static boolean isNotExecuted(Throwable thrown) {
        Throwable cause = cause(thrown);
        // The SDK tries again by itself, and says how the last try ended. The first may have been executed.
        if (cause instanceof SdkException e && e.numAttempts() != null && e.numAttempts() > 1) {
            return false;
        }
        if (cause instanceof AwsServiceException e) {
            return e.statusCode() >= 400 && e.statusCode() < 500;
        }
        return isCausedBy(ConnectException.class, cause) || isCausedBy(UnknownHostException.class, cause);
    }

    private static boolean isCausedBy(Class<? extends Throwable> type, @Nullable Throwable thrown) {
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            if (type.isInstance(each)) {
                return true;
            }
        }
        return false;
    }
}
