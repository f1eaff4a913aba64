package dev.onlyonce.client;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** Collects the body of an answer up to a bound; the rest is not read. */
final class BoundedBody implements HttpResponse.BodySubscriber<BoundedBody.Collected> {
    private final int bytesMax;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final CompletableFuture<Collected> collected = new CompletableFuture<>();
    private Flow.@Nullable Subscription subscription;

    /** What was read. */
    record Collected(byte[] bytes, boolean isWhole) {}

    BoundedBody(int bytesMax) {
        this.bytesMax = bytesMax;
    }

    @Override
    public CompletionStage<Collected> getBody() {
        return collected;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            byte[] chunk = new byte[Math.min(buffer.remaining(), bytesMax - bytes.size())];
            buffer.get(chunk);
            bytes.writeBytes(chunk);
            if (buffer.hasRemaining()) {
                if (subscription != null) {
                    subscription.cancel();
                }
                collected.complete(new Collected(bytes.toByteArray(), false));
                return;
            }
        }
    }

    @Override
    public void onError(Throwable failure) {
        collected.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        collected.complete(new Collected(bytes.toByteArray(), true));
    }
}
