package dev.onlyonce.sqs;

import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.retry.RetryUtils;

/** What an exception of the SDK says about a request. */
final class ServiceFailure {
    /** What a service calls credentials and keys that are wrong, expired or not there just now, with status 400 too. */
    private static final Set<String> CREDENTIALS = Set.of(
            "AccessDenied",
            "AccessDeniedException",
            "ExpiredToken",
            "ExpiredTokenException",
            "IncompleteSignature",
            "InvalidClientTokenId",
            "InvalidSecurity",
            "MissingAuthenticationToken",
            "RequestExpired",
            "SignatureDoesNotMatch",
            "UnrecognizedClientException",
            "KmsAccessDenied",
            "KmsDisabled",
            "KmsInvalidState",
            "KmsNotFound",
            "KmsOptInRequired",
            "KmsThrottled");

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

    /**
     * Whether the request was not executed, and never will be as it is. The caller gives up what this says of often enough, so it says
     * nothing of the sort when the service cannot be reached, throttles, or does not know the credentials.
     */
    static boolean isRefusedForGood(Throwable thrown) {
        // The SDK tries again by itself, and says how the last try ended. The first may have been executed.
        boolean once = !(cause(thrown) instanceof SdkException e) || e.numAttempts() == null || e.numAttempts() <= 1;
        return once && isRefused(thrown) && !isUnauthorized((AwsServiceException) cause(thrown));
    }

    private static boolean isUnauthorized(AwsServiceException e) {
        return e.statusCode() == 401 || e.statusCode() == 403 || CREDENTIALS.contains(code(e));
    }

    private static String code(AwsServiceException e) {
        return e.awsErrorDetails() == null
                ? ""
                : String.valueOf(e.awsErrorDetails().errorCode());
    }
}
