package dev.onlyonce.sqs;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
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
}
