package dev.onlyonce.payments.storm;

import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.store.Time;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One copy of one payment: a call of its own, with the key that all copies share, until there is a final answer. */
final class Sending {
    private static final Duration MOMENT = Duration.ofMillis(50);

    private final StormClient client;
    private final String id;
    private final CallRequest request;
    private final Time time;
    private final CompletableFuture<Answer> done = new CompletableFuture<>();

    /** A final answer. */
    record Answer(int status, byte[] body) {}

    /**
     * Prepares a copy.
     *
     * @param copy its name among the copies of the payment
     */
    Sending(StormClient client, StormPayment payment, String copy, Time time) {
        this.client = client;
        this.id = payment.key() + "/" + copy;
        this.time = time;
        // The address is only the call's name; the client sends each attempt to one of its servers.
        this.request = new CallRequest(
                "POST",
                URI.create("http://payments" + payment.path()),
                Map.of("Authorization", "Bearer " + payment.apiKey(), "Content-Type", "application/json"),
                CallBody.of(payment.body()));
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
        if (done.isDone()) {
            return;
        }
        CompletableFuture<CallResult> call = client.send(id, request);
        var unused = done.whenComplete((answer, failure) -> call.cancel(true));
        var unusedToo = call.whenComplete(this::ended);
    }

    private void ended(@Nullable CallResult result, @Nullable Throwable failure) {
        if (result instanceof CallResult.Done ended) {
            finish(ended.response());
        } else if (result instanceof CallResult.Refused ended) {
            finish(ended.response());
        } else if (result != null) {
            // The retry budget is used up, say. The key is kept, so the same call goes on later.
            time.schedule(MOMENT, this::send);
        } else if (failure instanceof CancellationException) {
            done.cancel(false);
        } else {
            done.completeExceptionally(new IllegalStateException(failure));
        }
    }

    private void finish(CallResponse response) {
        done.complete(new Answer(response.status(), response.body()));
    }
}
