package dev.onlyonce.server.config;

import dev.onlyonce.store.EntryId;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * How to ask the upstream for the outcome of an unknown entry.
 *
 * @param method of the request
 * @param path of the request, with its query; {@code {key}}, {@code {tenant}} and {@code {operation}} are filled in
 * @param headers of the request; the same is filled in
 * @param found when the effect happened
 * @param absent when it is proven that it did not; what is neither found nor absent stays unknown
 * @param answer what retries are answered with when it was found; none if it is not known
 * @param absentAfter how long after the outcome became unknown an absence is believed: the request may still be on its way
 */
public record LookUp(
        String method,
        String path,
        Map<String, String> headers,
        Rule found,
        Rule absent,
        @Nullable Answer answer,
        Duration absentAfter) {

    /**
     * The request about an entry; throws {@link IllegalArgumentException} if it cannot be sent.
     *
     * @param base what stands before the path
     */
    public HttpRequest.Builder request(String base, EntryId id, String operation) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + filled(path, id, operation, true)))
                .method(method, HttpRequest.BodyPublishers.noBody());
        headers.forEach((name, value) -> request.header(name, filled(value, id, operation, false)));
        return request;
    }

    private static String filled(String template, EntryId id, String operation, boolean inUri) {
        return template.replace("{key}", word(id.key(), inUri))
                .replace("{tenant}", word(id.tenant(), inUri))
                .replace("{operation}", word(operation, inUri));
    }

    private static String word(String value, boolean inUri) {
        return inUri ? URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20") : value;
    }

    /** The one that is asked, by its path. */
    public @Nullable Upstream upstream(List<Upstream> upstreams) {
        return Upstream.forPath(upstreams, Function.identity(), path.split("\\?", 2)[0]);
    }

    /**
     * What a response must look like.
     *
     * @param status exactly this
     * @param pointer a JSON pointer into its body; none for not looked at
     * @param present whether there must be something other than null at the pointer, or must not
     * @param value what must be there, as text; none for anything
     */
    public record Rule(
            int status,
            @Nullable String pointer,
            boolean present,
            @Nullable String value) {}

    /**
     * What is recorded for an effect that was found.
     *
     * @param status the status of the recorded response
     * @param pointer where in the look-up's body the recorded body stands; the empty string for all of it
     */
    public record Answer(int status, String pointer) {}
}
