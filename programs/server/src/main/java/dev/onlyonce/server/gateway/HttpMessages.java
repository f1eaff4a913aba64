package dev.onlyonce.server.gateway;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Between the server's messages and the boundary's. */
final class HttpMessages {
    private HttpMessages() {}

    /** As the service sees them: a cookie that came in pieces, as HTTP/2 allows, is one. */
    static Headers headers(MultiMap headers) {
        List<Headers.Field> fields = new ArrayList<>(headers.size());
        int cookie = -1;
        for (Map.Entry<String, String> line : headers) {
            boolean isCookie = HttpHeaderNames.COOKIE.contentEqualsIgnoreCase(line.getKey());
            if (isCookie && cookie >= 0) {
                Headers.Field first = fields.get(cookie);
                fields.set(cookie, new Headers.Field(first.name(), first.value() + "; " + line.getValue()));
                continue;
            }
            cookie = isCookie ? fields.size() : cookie;
            fields.add(new Headers.Field(line.getKey(), line.getValue()));
        }
        return new Headers(fields);
    }

    /** As sent, or -1; what is no number has been refused before. */
    static long contentLength(HttpServerRequest request) {
        String length = request.getHeader(HttpHeaderNames.CONTENT_LENGTH);
        return length == null ? -1 : Long.parseLong(length.trim());
    }

    /** Status and header lines; the length follows from the body. */
    static void head(HttpServerResponse response, HttpAnswer answer) {
        response.setStatusCode(answer.status());
        MultiMap headers = response.headers();
        for (Headers.Field field : answer.headers().fields()) {
            if (!field.name().equalsIgnoreCase("Content-Length")) {
                headers.add(field.name(), field.value());
            }
        }
    }
}
