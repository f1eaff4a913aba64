package dev.onlyonce.client.spring;

import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import java.net.URI;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpMethod;
import org.springframework.http.client.reactive.AbstractClientHttpRequest;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ExchangeStrategies;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Takes the bytes that a request would send, so that every attempt sends the same. */
final class CapturedRequest extends AbstractClientHttpRequest {
    private final ClientRequest request;
    private byte[] body = new byte[0];

    private CapturedRequest(ClientRequest request) {
        this.request = request;
    }

    static Mono<CallRequest> of(ClientRequest request, ExchangeStrategies strategies) {
        return Mono.defer(() -> {
            CapturedRequest captured = new CapturedRequest(request);
            return request.writeTo(captured, strategies).then(Mono.fromSupplier(captured::call));
        });
    }

    private CallRequest call() {
        return CallRequest.of(
                request.method().name(), request.url(), RetryingRequestInterceptor.map(getHeaders()), body);
    }

    @Override
    public HttpMethod getMethod() {
        return request.method();
    }

    @Override
    public URI getURI() {
        return request.url();
    }

    @Override
    public DataBufferFactory bufferFactory() {
        return DefaultDataBufferFactory.sharedInstance;
    }

    @Override
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public <T> T getNativeRequest() {
        return (T) request;
    }

    @Override
    public Mono<Void> writeWith(Publisher<? extends DataBuffer> parts) {
        return doCommit(() -> DataBufferUtils.join(parts, CallBody.BYTES_MAX)
                .doOnNext(whole -> {
                    body = new byte[whole.readableByteCount()];
                    whole.read(body);
                    DataBufferUtils.release(whole);
                })
                .then());
    }

    @Override
    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> parts) {
        return writeWith(Flux.from(parts).flatMap(part -> part));
    }

    @Override
    public Mono<Void> setComplete() {
        return doCommit();
    }

    @Override
    protected void applyHeaders() {}

    @Override
    protected void applyCookies() {}
}
