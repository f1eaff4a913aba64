package dev.onlyonce.server.gateway;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** A response's body in memory, which fails when it is larger than expected. */
final class BoundedBody implements HttpResponse.BodySubscriber<byte[]> {
    private final HttpResponse.BodySubscriber<byte[]> body = HttpResponse.BodySubscribers.ofByteArray();
    private Flow.@Nullable Subscription subscription;
    private long left;

    BoundedBody(int bytesMax) {
        left = bytesMax;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        body.onSubscribe(subscription);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            left -= buffer.remaining();
        }
        if (left >= 0) {
            body.onNext(buffers);
        } else if (subscription != null) {
            subscription.cancel();
            body.onError(new IOException("the response is too large"));
        }
    }

    @Override
    public void onError(Throwable failure) {
        body.onError(failure);
    }

    @Override
    public void onComplete() {
        body.onComplete();
    }

    @Override
    public CompletionStage<byte[]> getBody() {
        return body.getBody();
    }
}
