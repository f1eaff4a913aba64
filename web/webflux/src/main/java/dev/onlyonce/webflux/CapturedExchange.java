package dev.onlyonce.webflux;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import org.springframework.web.server.adapter.DefaultServerWebExchange;
import org.springframework.web.server.i18n.AcceptHeaderLocaleContextResolver;
import reactor.core.publisher.Mono;

/** What the handler sees: its request from memory, its response held back, and everything else as it was. */
final class CapturedExchange extends ServerWebExchangeDecorator {
    private final BufferedRequest request;
    private final ServerHttpResponse response;
    /** Whatever depends on the request's body or writes to the response: the real exchange would use the real ones. */
    private final DefaultServerWebExchange inner;

    CapturedExchange(
            ServerWebExchange real,
            BufferedRequest request,
            ServerHttpResponse response,
            ServerCodecConfigurer codecs) {
        super(real);
        this.request = request;
        this.response = response;
        this.inner = new DefaultServerWebExchange(
                request, response, any -> real.getSession(), codecs, new AcceptHeaderLocaleContextResolver());
    }

    @Override
    public ServerHttpRequest getRequest() {
        return request;
    }

    @Override
    public ServerHttpResponse getResponse() {
        return response;
    }

    @Override
    public Mono<MultiValueMap<String, String>> getFormData() {
        return inner.getFormData();
    }

    @Override
    public Mono<MultiValueMap<String, Part>> getMultipartData() {
        return inner.getMultipartData();
    }

    @Override
    public Mono<Void> cleanupMultipart() {
        return inner.cleanupMultipart();
    }

    @Override
    public boolean isNotModified() {
        return inner.isNotModified();
    }

    @Override
    public boolean checkNotModified(Instant lastModified) {
        return inner.checkNotModified(lastModified);
    }

    @Override
    public boolean checkNotModified(String etag) {
        return inner.checkNotModified(etag);
    }

    @Override
    public boolean checkNotModified(@Nullable String etag, Instant lastModified) {
        return inner.checkNotModified(etag, lastModified);
    }
}
