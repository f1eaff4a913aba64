package dev.onlyonce.webflux;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A request whose body is in memory and can be read more than once. */
final class BufferedRequest extends ServerHttpRequestDecorator {
    private static final byte[] NO_BODY = {};

    private final DataBufferFactory buffers;
    private final byte[] body;

    BufferedRequest(ServerHttpRequest request, DataBufferFactory buffers, byte[] body) {
        super(request);
        this.buffers = buffers;
        this.body = body;
    }

    /**
     * Reads the body.
     *
     * @return the bytes as they were sent; an error of type {@link
     *     org.springframework.core.io.buffer.DataBufferLimitException} if they are more than {@code bytesMax}
     */
    static Mono<byte[]> read(ServerHttpRequest request, int bytesMax) {
        return DataBufferUtils.join(request.getBody(), bytesMax)
                .map(BufferedRequest::bytes)
                .defaultIfEmpty(NO_BODY);
    }

    static byte[] bytes(DataBuffer buffer) {
        byte[] bytes = new byte[buffer.readableByteCount()];
        buffer.read(bytes);
        DataBufferUtils.release(buffer);
        return bytes;
    }

    byte[] body() {
        return body;
    }

    @Override
    public Flux<DataBuffer> getBody() {
        return body.length == 0 ? Flux.empty() : Flux.defer(() -> Flux.just(buffers.wrap(body)));
    }
}
