package dev.onlyonce.client;

import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Follows 307 and 308: method, body and key stay the same. It does not go from TLS to none, and credentials do not go to another
 * origin.
 */
final class Redirects {
    private static final int HOPS_MAX = 5;

    private final ClientContext context;
    private final Transport transport;

    Redirects(ClientContext context, Transport transport) {
        this.context = context;
        this.transport = transport;
    }

    /** The answer of the last place; a redirect if that is one too many, or leads where it must not. */
    CallResponse exchange(CallRequest request, Duration timeout) throws IOException, InterruptedException {
        long begun = context.time.nanos();
        CallRequest current = context.dressed(request);
        CallResponse response = whole(current, timeout);
        for (int hop = 0; hop < HOPS_MAX; hop++) {
            Optional<URI> target = isFollowed(response.status()) ? target(current.uri(), response) : Optional.empty();
            if (target.isEmpty()) {
                return response;
            }
            CallRequest next = request.to(target.get());
            boolean isSameOrigin = Origin.of(request.uri()).equals(Origin.of(target.get()));
            current = context.dressed(isSameOrigin ? next : next.withoutSecrets(context.secretHeaders));
            Duration left = timeout.minusNanos(context.time.nanos() - begun);
            if (left.isNegative() || left.isZero()) {
                return response;
            }
            response = whole(current, left);
        }
        return response;
    }

    /** One exchange, without following. */
    CallResponse once(CallRequest request, Duration timeout) throws IOException, InterruptedException {
        return whole(request, timeout);
    }

    /** HTTP/2 and some clients end an answer that was cut short as if it were whole. What was lost may be what counts. */
    private CallResponse whole(CallRequest request, Duration timeout) throws IOException, InterruptedException {
        CallResponse response = transport.exchange(request, timeout);
        boolean hasBody = !request.method().equals("HEAD") && response.status() != 204 && response.status() != 304;
        // An HTTP client may have decoded it; then its length is another.
        boolean isPlain = response.header("Content-Encoding").isEmpty();
        Optional<String> length = response.header("Content-Length").filter(it -> it.matches("\\d{1,18}"));
        if (hasBody
                && isPlain
                && response.isWhole()
                && length.isPresent()
                && response.body().length < Long.parseLong(length.get())) {
            throw new IOException(
                    "the answer was cut short: " + response.body().length + " of " + length.get() + " bytes");
        }
        return response;
    }

    private static boolean isFollowed(int status) {
        return status == 307 || status == 308;
    }

    private static Optional<URI> target(URI from, CallResponse response) {
        try {
            return response.header("Location")
                    .map(location -> from.resolve(URI.create(location.strip())))
                    .filter(to -> to.getHost() != null && to.getUserInfo() == null)
                    .filter(to -> Set.of("http", "https").contains(scheme(to)))
                    .filter(to -> scheme(to).equals("https") || scheme(from).equals("http"));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static String scheme(URI uri) {
        return uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
    }
}
