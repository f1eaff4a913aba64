package dev.onlyonce.dynamodb;

import dev.onlyonce.store.StoreUnavailable;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.retry.RetryUtils;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClientBuilder;

/**
 * Opens a client. The SDK repeats only what the service has refused because of load, or because this node's wall clock is wrong, which it
 * corrects; a request whose answer is lost is repeated by {@link Table}, which knows how to tell whether the first one was executed.
 *
 * @param region empty for that of the environment
 * @param endpoint empty for that of the region
 */
record ClientOpening(
        Optional<Region> region, Optional<URI> endpoint, Optional<AwsBasicCredentials> credentials, Duration timeout) {
    /** Requests of one node at once: a batch, and those beside it. More wait for a connection. */
    private static final int CONNECTIONS_MAX = 256;

    private static final int WAITING_MAX = 20_000;
    private static final int ATTEMPTS_MAX = 3;

    DynamoDbAsyncClient open(@Nullable ServiceClock clock) {
        DynamoDbAsyncClientBuilder builder = DynamoDbAsyncClient.builder()
                .region(region.orElseGet(ClientOpening::regionOfEnvironment))
                .credentialsProvider(provider())
                .httpClientBuilder(NettyNioAsyncHttpClient.builder()
                        .maxConcurrency(CONNECTIONS_MAX)
                        .maxPendingConnectionAcquires(WAITING_MAX)
                        .connectionTimeout(timeout)
                        .connectionAcquisitionTimeout(timeout.multipliedBy(ATTEMPTS_MAX)))
                .overrideConfiguration(o -> {
                    o.retryStrategy(retries())
                            .apiCallAttemptTimeout(timeout)
                            .apiCallTimeout(timeout.multipliedBy(ATTEMPTS_MAX));
                    if (clock != null) {
                        o.addExecutionInterceptor(clock);
                    }
                });
        endpoint.ifPresent(builder::endpointOverride);
        return builder.build();
    }

    private AwsCredentialsProvider provider() {
        return credentials.isPresent()
                ? StaticCredentialsProvider.create(credentials.get())
                : DefaultCredentialsProvider.builder().build();
    }

    private static StandardRetryStrategy retries() {
        return StandardRetryStrategy.builder()
                .useClientDefaults(false)
                .maxAttempts(ATTEMPTS_MAX)
                .retryOnException(ClientOpening::isRefused)
                .treatAsThrottling(thrown -> thrown instanceof SdkException e && RetryUtils.isThrottlingException(e))
                .build();
    }

    private static boolean isRefused(Throwable thrown) {
        return thrown instanceof SdkException e
                && (RetryUtils.isThrottlingException(e) || RetryUtils.isClockSkewException(e));
    }

    private static Region regionOfEnvironment() {
        try {
            return new DefaultAwsRegionProviderChain().getRegion();
        } catch (SdkClientException e) {
            throw new StoreUnavailable(
                    "DynamoDB: no region: write ?region=eu-central-1 after the table in the store's URL, or set"
                            + " AWS_REGION",
                    e);
        }
    }
}
