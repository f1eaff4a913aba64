package dev.onlyonce.client;

import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A request, without its key. Immutable.
 *
 * @param method such as {@code POST}
 * @param uri absolute, {@code http} or {@code https}
 * @param headers by name; the case of names does not matter
 * @param body what to send
 */
public record CallRequest(String method, URI uri, Map<String, String> headers, CallBody body) {
    /** The most bytes that names and values of headers may have together. */
    public static final int HEADER_BYTES_MAX = 32 * 1024;

    private static final int URI_LENGTH_MAX = 8 * 1024;
    private static final int METHOD_LENGTH_MAX = 32;
    private static final Set<String> OF_THE_CONNECTION =
            Set.of("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade");
    /** They expire, and a stolen journal must not be a stolen account. */
    private static final Pattern SECRET = Pattern.compile(
            "authorization|cookie|token|secret|passw|credential|session|(api|access|subscription|account|auth)[-_]?key",
            Pattern.CASE_INSENSITIVE);

    /** Throws {@link IllegalArgumentException}, with what is wrong, if this can never be sent. */
    public CallRequest {
        String scheme = uri.getScheme();
        if (scheme == null || !scheme.matches("(?i)https?") || uri.getHost() == null) {
            throw new IllegalArgumentException(
                    "\"" + uri + "\" cannot be sent to; write for example https://api.example.com/payments");
        }
        if (uri.getUserInfo() != null) {
            throw new IllegalArgumentException(
                    "The URL has a user in it, which would get into the journal; use a header");
        }
        if (uri.toString().length() > URI_LENGTH_MAX || method.length() > METHOD_LENGTH_MAX) {
            throw new IllegalArgumentException("The URL is longer than " + URI_LENGTH_MAX
                    + " characters, or the method than " + METHOD_LENGTH_MAX);
        }
        Map<String, String> sorted = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        sorted.putAll(headers);
        headers = Collections.unmodifiableMap(sorted);
        long bytes = 0;
        for (Map.Entry<String, String> header : headers.entrySet()) {
            bytes += header.getKey().length() + (long) header.getValue().getBytes(StandardCharsets.UTF_8).length;
        }
        if (bytes > HEADER_BYTES_MAX) {
            throw new IllegalArgumentException("The headers have " + bytes + " bytes; the most is " + HEADER_BYTES_MAX);
        }
        // The JDK knows which names and methods it refuses. Better now than after the journal is written.
        HttpRequest.Builder check = HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody());
        headers.forEach(check::header);
        var unused = check.build();
    }

    /** A POST with a JSON body. */
    public static CallRequest post(URI uri, String json) {
        return new CallRequest("POST", uri, Map.of("Content-Type", "application/json"), CallBody.of(json));
    }

    /** A request of another HTTP client, without the headers that such a client sets itself for each attempt. */
    public static CallRequest of(String method, URI uri, Map<String, List<String>> headers, byte[] body) {
        Map<String, String> kept = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, values) -> {
            if (!OF_THE_CONNECTION.contains(name.toLowerCase(Locale.ROOT))) {
                kept.put(name, String.join(", ", values));
            }
        });
        return new CallRequest(method, uri, kept, CallBody.of(body));
    }

    /** This request with one more header, or with another value of it. */
    public CallRequest header(String name, String value) {
        return headers(Map.of(name, value));
    }

    /** This request with more headers, or with other values of them. */
    public CallRequest headers(Map<String, String> more) {
        if (more.isEmpty()) {
            return this;
        }
        Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        all.putAll(headers);
        all.putAll(more);
        return new CallRequest(method, uri, all, body);
    }

    /** The same request to another place. */
    public CallRequest to(URI other) {
        return new CallRequest(method, other, headers, body);
    }

    /**
     * Without headers that must not be stored: {@code Authorization}, {@code Cookie}, names with {@code token}, {@code api-key} and
     * the like in them, and those named.
     */
    CallRequest withoutSecrets(Set<String> named) {
        Map<String, String> kept = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        headers.forEach((name, value) -> {
            if (!isSecret(name, named)) {
                kept.put(name, value);
            }
        });
        return new CallRequest(method, uri, kept, body);
    }

    static boolean isSecret(String name, Set<String> named) {
        return SECRET.matcher(name).find() || named.contains(name.toLowerCase(Locale.ROOT));
    }

    /** Whether both are the same business request: method, URL and bytes. Headers may differ; a token is renewed, for example. */
    public boolean isSameAs(CallRequest other) {
        return method.equals(other.method)
                && uri.equals(other.uri)
                && body.length() == other.body.length()
                && body.sha256().equals(other.body.sha256());
    }

    /** The URL for logs and messages: a query may have credentials. */
    String place() {
        return uri.getRawQuery() == null ? uri.toString() : uri.toString().replaceFirst("\\?.*", "?…");
    }

    /** Leaves out the headers and the query, which may have credentials. */
    @Override
    public String toString() {
        return method + " " + place() + ", " + body.length() + " bytes";
    }
}
