package dev.onlyonce.webflux;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Sends answers to clients. */
final class RealResponse {
    private static final int TOO_LARGE = 413;

    private RealResponse() {}

    static Mono<Void> send(ServerHttpResponse to, HttpAnswer answer) {
        head(to, answer);
        if (answer.body().length == 0) {
            return to.setComplete();
        }
        to.getHeaders().setContentLength(answer.body().length);
        return to.writeWith(Mono.fromSupplier(() -> to.bufferFactory().wrap(answer.body())));
    }

    static Mono<Void> stream(ServerHttpResponse to, HttpAnswer head, Flux<DataBuffer> body) {
        head(to, head);
        return to.writeWith(body);
    }

    /** A line of this answer replaces what a filter outside has written; lines of other names stay. */
    private static void head(ServerHttpResponse to, HttpAnswer answer) {
        to.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        HttpHeaders headers = to.getHeaders();
        Set<String> seen = new HashSet<>();
        for (Headers.Field field : answer.headers().fields()) {
            String name = field.name().toLowerCase(Locale.ROOT);
            // Filters outside may have set cookies too, and said more of what the answer depends on.
            boolean adds = name.equals("set-cookie") || name.equals("vary");
            if (seen.add(name) && !adds) {
                headers.set(field.name(), field.value());
            } else {
                headers.add(field.name(), field.value());
            }
        }
        if (answer.status() == TOO_LARGE) {
            // The rest of the body may not have been read: nobody can use the connection again.
            headers.set(HttpHeaders.CONNECTION, "close");
        }
    }

    static Headers headers(ServerHttpRequest request) {
        List<Headers.Field> fields = new ArrayList<>();
        request.getHeaders()
                .forEach((name, values) -> values.forEach(value -> fields.add(new Headers.Field(name, value))));
        return new Headers(fields);
    }
}
