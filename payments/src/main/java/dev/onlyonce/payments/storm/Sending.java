package dev.onlyonce.payments.storm;

import dev.onlyonce.store.Time;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One copy of one payment: sends it, with the same key, until there is a final answer.
 *
 * <ol>
 *   <li>no answer: send again after a moment;
 *   <li>202: follow {@code Location} until the payment is decided, then send again for the recorded answer;
 *   <li>409, 429, 503 and other 5xx: send again after {@code Retry-After};
 *   <li>anything else is final.
 * </ol>
 */
final class Sending {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration MOMENT = Duration.ofMillis(50);
    /** A broken answer must not make the storm sleep for long. */
    private static final Duration RETRY_AFTER_MAX = Duration.ofSeconds(5);

    private final HttpClient client;
    private final Supplier<URI> apis;
    private final StormPayment payment;
    private final Tally tally;
    private final Time time;
    private final CompletableFuture<Answer> done = new CompletableFuture<>();

    /** A final answer. */
    record Answer(int status, byte[] body) {}

    Sending(HttpClient client, Supplier<URI> apis, StormPayment payment, Tally tally, Time time) {
        this.client = client;
        this.apis = apis;
        this.payment = payment;
        this.tally = tally;
        this.time = time;
    }

    /** Starts; completes with the final answer, or exceptionally when the storm was given up. */
    CompletableFuture<Answer> start() {
        send();
        return done;
    }

    void giveUp() {
        done.cancel(false);
    }

    private void send() {
        HttpRequest request = HttpRequest.newBuilder(apis.get().resolve("/payments"))
                .timeout(TIMEOUT)
                .header("Authorization", "Bearer " + payment.apiKey())
                .header("Idempotency-Key", payment.key())
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(payment.body()))
                .build();
        exchange(request, this::answered);
    }

    private void answered(HttpResponse<byte[]> response) {
        int status = response.statusCode();
        tally.answered(status);
        Optional<String> location = response.headers().firstValue("Location");
        if (status == 202 && location.isPresent()) {
            later(retryAfter(response), () -> poll(location.get()));
        } else if (status == 202 || status == 409 || status == 429 || status >= 500) {
            later(retryAfter(response), this::send);
        } else {
            done.complete(new Answer(status, response.body()));
        }
    }

    private void poll(String place) {
        HttpRequest request = HttpRequest.newBuilder(apis.get().resolve(place))
                .timeout(TIMEOUT)
                .header("Authorization", "Bearer " + payment.apiKey())
                .header("Idempotency-Key", payment.key())
                .build();
        exchange(request, response -> {
            tally.polled();
            if (response.headers().firstValue("Retry-After").isPresent()) {
                later(retryAfter(response), () -> poll(place));
            } else {
                // Also when it is not found or the server fails: the key's answer is what counts.
                send();
            }
        });
    }

    private void exchange(HttpRequest request, Consumer<HttpResponse<byte[]>> then) {
        if (done.isDone()) {
            return;
        }
        tally.sent();
        var unused = client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray())
                .whenComplete((response, failure) -> settle(response, failure, then));
    }

    private void settle(
            @Nullable HttpResponse<byte[]> response, @Nullable Throwable failure, Consumer<HttpResponse<byte[]>> then) {
        try {
            if (response != null) {
                then.accept(response);
            } else if (cause(failure) instanceof IOException) {
                tally.lost();
                later(MOMENT, this::send);
            } else {
                done.completeExceptionally(new IllegalStateException(failure));
            }
        } catch (RuntimeException e) {
            done.completeExceptionally(e);
        }
    }

    private static @Nullable Throwable cause(@Nullable Throwable failure) {
        return failure instanceof CompletionException ? failure.getCause() : failure;
    }

    private void later(Duration delay, Runnable work) {
        if (!done.isDone()) {
            time.schedule(delay, work);
        }
    }

    private static Duration retryAfter(HttpResponse<?> response) {
        Duration asked = response.headers()
                .firstValue("Retry-After")
                .filter(value -> value.matches("\\d{1,6}"))
                .map(value -> Duration.ofSeconds(Long.parseLong(value)))
                .orElse(MOMENT);
        return asked.compareTo(RETRY_AFTER_MAX) > 0 ? RETRY_AFTER_MAX : asked;
    }
}
