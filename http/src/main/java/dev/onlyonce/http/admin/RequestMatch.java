package dev.onlyonce.http.admin;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.fingerprint.MalformedRequest;
import dev.onlyonce.http.Boundary;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpRequest;
import dev.onlyonce.http.Operation;
import dev.onlyonce.store.Entry;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compares a request with the one that a key was used for. Only a hash of that one is stored, so what differs is found by trying: the
 * request is changed in one part at a time, and a part whose change makes the two match is the one that differs.
 */
final class RequestMatch {
    private static final int BOUND = 2;
    private static final int ALGORITHM_MASK = 0xff;
    /** The first half of a digest that is bound to a caller is that of the request. */
    private static final int REQUEST_BYTES = 16;

    private final Boundary boundary;
    private final Entry entry;
    private final HttpRequest request;
    private final Operation operation;
    private final List<Matching.Part> parts = new ArrayList<>();

    private RequestMatch(Boundary boundary, Entry entry, HttpRequest request, Operation operation) {
        this.boundary = boundary;
        this.entry = entry;
        this.request = request;
        this.operation = operation;
    }

    static Matching of(Optional<Boundary> known, Entry entry, Matching.Sample sample) {
        if (known.isEmpty()) {
            return new Matching(null, "This program has no operations for HTTP requests to compare with.", List.of());
        }
        HttpRequest request = request(entry, sample);
        Optional<Operation> operation = known.get().operation(request.method(), request.path());
        if (operation.isEmpty()) {
            Matching.Part part = new Matching.Part(
                    "operation", false, "No operation matches " + request.method() + " " + request.path() + ".");
            return new Matching(false, "The request is for no operation: it would run unprotected.", List.of(part));
        }
        return new RequestMatch(known.get(), entry, request, operation.get()).compare();
    }

    private static HttpRequest request(Entry entry, Matching.Sample sample) {
        int query = sample.target().indexOf('?');
        List<Headers.Field> fields = new ArrayList<>();
        if (sample.headers() != null) {
            sample.headers().forEach((name, value) -> fields.add(new Headers.Field(name, value)));
        }
        String body = sample.body() == null ? "" : sample.body();
        return new HttpRequest(
                sample.method().toUpperCase(Locale.ROOT),
                query < 0 ? sample.target() : sample.target().substring(0, query),
                query < 0 ? null : sample.target().substring(query + 1),
                new Headers(fields),
                body.getBytes(StandardCharsets.UTF_8),
                entry.id().tenant());
    }

    private Matching compare() {
        if (!isOperation()) {
            parts.add(new Matching.Part(
                    "operation",
                    false,
                    "The key was used for " + entry.operation() + ", and this request is for " + operation.name()
                            + "."));
            return new Matching(false, "The request is for another operation: it would be refused.", parts);
        }
        parts.add(new Matching.Part("operation", true, "Both are for " + operation.name() + "."));
        target();
        Fingerprint asked;
        try {
            asked = boundary.fingerprint(operation, request);
        } catch (MalformedRequest e) {
            return new Matching(false, "The request would be refused: " + e.getMessage(), parts);
        }
        Optional<Fingerprint> same = asked.in(entry.fingerprint().version());
        if (same.isEmpty()) {
            return new Matching(
                    null,
                    "It cannot be told: the key was recorded with a secret or an algorithm that this node does not"
                            + " have.",
                    parts);
        }
        if (same.get().matches(entry.fingerprint())) {
            return new Matching(true, "It is the same request: it would be answered from the record.", parts);
        }
        callers(same.get());
        variations();
        return new Matching(false, "It is another request: it would be refused.", parts);
    }

    private boolean isOperation() {
        return operation.name().equals(entry.operation())
                || operation.formerly().contains(entry.operation());
    }

    private void target() {
        String recorded = entry.fingerprint().target();
        if (recorded != null && !recorded.endsWith("…")) {
            String now = request.method() + " " + request.path();
            boolean same = recorded.equals(now);
            parts.add(new Matching.Part(
                    "target", same, same ? "Both are " + now + "." : "The key was used for " + recorded + "."));
        }
    }

    private void callers(Fingerprint asked) {
        if ((asked.version() & ALGORITHM_MASK) == BOUND) {
            boolean same = Arrays.equals(
                    Arrays.copyOf(asked.digest(), REQUEST_BYTES),
                    Arrays.copyOf(entry.fingerprint().digest(), REQUEST_BYTES));
            if (same) {
                parts.add(new Matching.Part(
                        "caller", false, "The requests are the same, but the caller's credentials are others."));
            }
        }
    }

    private void variations() {
        byte[] body = request.body();
        attempt("query", "It would match without the query.", request.path(), null, request.headers(), body);
        attempt(
                "body",
                "It would match without the body.",
                request.path(),
                request.query(),
                request.headers(),
                new byte[0]);
        String text = new String(body, StandardCharsets.UTF_8);
        attempt(
                "body",
                "It would match without white space at the end of the body.",
                request.path(),
                request.query(),
                request.headers(),
                text.stripTrailing().getBytes(StandardCharsets.UTF_8));
        attempt(
                "body",
                "It would match with a line end after the body.",
                request.path(),
                request.query(),
                request.headers(),
                (text + "\n").getBytes(StandardCharsets.UTF_8));
        for (String type : List.of("application/json", "application/x-www-form-urlencoded", "text/plain")) {
            attempt(
                    "headers",
                    "It would match with Content-Type: " + type + ".",
                    request.path(),
                    request.query(),
                    request.headers().set("Content-Type", type),
                    body);
        }
        for (String name : operation.fingerprintHeaders()) {
            attempt(
                    "headers",
                    "It would match without the header " + name + ".",
                    request.path(),
                    request.query(),
                    request.headers().only(field -> !field.name().equalsIgnoreCase(name)),
                    body);
        }
        if (parts.stream().noneMatch(part -> Boolean.FALSE.equals(part.same()))) {
            parts.add(new Matching.Part(
                    "body",
                    null,
                    "The body, the query or a header that counts differs; only a hash of them is stored, so"
                            + " nobody can tell which."));
        }
    }

    private void attempt(
            String part, String detail, String path, @Nullable String query, Headers headers, byte[] body) {
        boolean found = parts.stream().anyMatch(it -> it.part().equals(part) && Boolean.FALSE.equals(it.same()));
        HttpRequest changed = new HttpRequest(request.method(), path, query, headers, body, request.tenant());
        if (!found && isMatch(changed)) {
            parts.add(new Matching.Part(part, false, detail));
        }
    }

    private boolean isMatch(HttpRequest changed) {
        try {
            Fingerprint fingerprint = boundary.fingerprint(operation, changed);
            return fingerprint
                    .in(entry.fingerprint().version())
                    .filter(entry.fingerprint()::matches)
                    .isPresent();
        } catch (MalformedRequest e) {
            return false;
        }
    }
}
