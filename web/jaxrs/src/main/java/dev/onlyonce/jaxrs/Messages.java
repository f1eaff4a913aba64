package dev.onlyonce.jaxrs;

import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.HttpRequest;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.Response;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests and answers, from JAX-RS and back. */
final class Messages {
    private Messages() {}

    static HttpRequest request(ContainerRequestContext request, byte[] body, @Nullable String tenant) {
        URI uri = request.getUriInfo().getRequestUri();
        return new HttpRequest(
                request.getMethod(), uri.getRawPath(), uri.getRawQuery(), headers(request.getHeaders()), body, tenant);
    }

    static Headers headers(MultivaluedMap<String, String> map) {
        List<Headers.Field> fields = new ArrayList<>();
        map.forEach((name, values) -> values.forEach(value -> fields.add(new Headers.Field(name, value))));
        return new Headers(fields);
    }

    static Response response(HttpAnswer answer) {
        Response.ResponseBuilder builder = Response.status(answer.status());
        answer.headers().fields().forEach(field -> builder.header(field.name(), field.value()));
        return answer.body().length == 0
                ? builder.build()
                : builder.entity(answer.body()).build();
    }

    /** Answers name paths as clients must ask for them. */
    static Boundary under(Boundary boundary, ContainerRequestContext request) {
        String base = request.getUriInfo().getBaseUri().getRawPath();
        return boundary.under(base.endsWith("/") ? base.substring(0, base.length() - 1) : base);
    }
}
