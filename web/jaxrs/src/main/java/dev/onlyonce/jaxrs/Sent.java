package dev.onlyonce.jaxrs;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import jakarta.ws.rs.container.ContainerResponseContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Puts what the boundary says into a response. */
final class Sent {
    private Sent() {}

    static Headers headers(ContainerResponseContext response) {
        return Messages.headers(response.getStringHeaders());
    }

    /** Sends an answer instead of the method's own. */
    static void replace(ContainerResponseContext response, HttpAnswer answer) {
        with(response, answer, null);
    }

    /**
     * Sends an answer.
     *
     * @param own the method's own body; null for the answer's
     */
    static void with(ContainerResponseContext response, HttpAnswer answer, @Nullable WrittenEntity own) {
        response.setStatus(answer.status());
        response.getHeaders().clear();
        Set<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        answer.headers().fields().forEach(field -> names.add(field.name()));
        names.remove("Content-Length");
        for (String name : names) {
            List<Object> values = new ArrayList<>(answer.headers().values(name));
            response.getHeaders().put(name, values);
        }
        if (own != null) {
            own.sendWith(response);
        } else {
            response.setEntity(answer.body().length == 0 ? null : answer.body());
        }
    }
}
