package dev.onlyonce.webflux;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseCookie;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.http.server.reactive.ServerHttpResponseDecorator;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A response that is held back. It is committed when its whole body is there: until then an exception handler can answer instead,
 * also after the first elements of a {@code Flux}. A body over the limit is handed over while it comes.
 */
final class CapturedResponse extends ServerHttpResponseDecorator {
    private static final int OK = 200;

    private final int bytesMax;
    private final Overflow overflow;
    private final MultiValueMap<String, ResponseCookie> cookies = new LinkedMultiValueMap<>();
    private final List<Supplier<? extends Mono<Void>>> actions = new ArrayList<>();
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private HttpHeaders headers = new HttpHeaders();
    private @Nullable HttpStatusCode status;
    private boolean committed;
    private boolean tooLarge;

    /** Takes a body that is larger than may be held: all of its parts, from the first byte. */
    interface Overflow {
        Mono<Void> take(Flux<DataBuffer> body);
    }

    CapturedResponse(ServerHttpResponse real, int bytesMax, Overflow overflow) {
        super(real);
        this.bytesMax = bytesMax;
        this.overflow = overflow;
    }

    @Override
    public boolean setStatusCode(@Nullable HttpStatusCode code) {
        if (committed) {
            return false;
        }
        status = code;
        return true;
    }

    @Override
    public boolean setRawStatusCode(@Nullable Integer code) {
        return setStatusCode(code == null ? null : HttpStatusCode.valueOf(code));
    }

    @Override
    public @Nullable HttpStatusCode getStatusCode() {
        return status;
    }

    @Override
    public HttpHeaders getHeaders() {
        return headers;
    }

    @Override
    public MultiValueMap<String, ResponseCookie> getCookies() {
        return cookies;
    }

    @Override
    public void addCookie(ResponseCookie cookie) {
        if (committed) {
            throw new IllegalStateException("the response is complete: " + cookie.getName() + " comes too late");
        }
        cookies.add(cookie.getName(), cookie);
    }

    @Override
    public void beforeCommit(Supplier<? extends Mono<Void>> action) {
        actions.add(action);
    }

    @Override
    public boolean isCommitted() {
        return committed;
    }

    @Override
    public Mono<Void> writeAndFlushWith(Publisher<? extends Publisher<? extends DataBuffer>> body) {
        return writeWith(Flux.from(body).concatMap(part -> part));
    }

    @Override
    public Mono<Void> writeWith(Publisher<? extends DataBuffer> body) {
        if (committed) {
            return Mono.error(new IllegalStateException("the response is complete"));
        }
        long[] size = {0};
        // Up to the limit it is one list, which comes when the body is complete; after it, every part comes by itself.
        return Flux.<DataBuffer>from(body)
                .bufferUntil(part -> {
                    size[0] += part.readableByteCount();
                    tooLarge = size[0] > bytesMax;
                    return tooLarge;
                })
                .switchOnFirst((first, parts) -> {
                    if (first.hasValue() && tooLarge) {
                        return commit().then(Mono.defer(() -> overflow.take(parts.flatMapIterable(list -> list))));
                    }
                    return parts.doOnNext(this::hold).then(Mono.defer(this::commit));
                })
                .doOnDiscard(DataBuffer.class, DataBufferUtils::release)
                .then()
                .doOnError(failed -> headers.clearContentHeaders());
    }

    private void hold(List<DataBuffer> parts) {
        parts.forEach(part -> held.writeBytes(BufferedRequest.bytes(part)));
    }

    @Override
    public Mono<Void> setComplete() {
        return commit();
    }

    private Mono<Void> commit() {
        return Mono.defer(() -> {
            if (committed) {
                return Mono.empty();
            }
            List<Supplier<? extends Mono<Void>>> due = List.copyOf(actions);
            actions.clear();
            return Flux.fromIterable(due).concatMap(Supplier::get).then(Mono.fromRunnable(this::committed));
        });
    }

    private void committed() {
        committed = true;
        headers = HttpHeaders.readOnlyHttpHeaders(headers);
    }

    /** What the handler has answered. */
    HttpAnswer answer() {
        return new HttpAnswer(status(), ownHeaders(), held.toByteArray());
    }

    int status() {
        return status == null ? OK : status.value();
    }

    /** Without what filters outside have written. */
    Headers ownHeaders() {
        List<Headers.Field> fields = new ArrayList<>();
        headers.forEach((name, values) -> values.forEach(value -> fields.add(new Headers.Field(name, value))));
        cookies.values()
                .forEach(some -> some.forEach(
                        cookie -> fields.add(new Headers.Field(HttpHeaders.SET_COOKIE, cookie.toString()))));
        return new Headers(fields);
    }
}
