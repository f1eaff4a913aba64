package dev.onlyonce.http;

import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprinter;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The status of a caller's own key. Entries are found by tenant and key only, so another tenant's is simply not there. */
final class KeyStatus {
    private final Onlyonce once;
    private final Routes routes;

    KeyStatus(Onlyonce once, Routes routes) {
        this.once = once;
        this.routes = routes;
    }

    HttpAnswer answer(String tenant, HttpRequest request, Optional<String> credentials) {
        Profile profile = Profile.ietf();
        try {
            String name = operationName(request.query());
            Optional<Operation> operation = name == null ? Optional.empty() : routes.named(name);
            if (name != null && operation.isEmpty()) {
                return profile.refuse(Problem.OPERATION_UNKNOWN.report());
            }
            Scope scope = operation.map(Operation::scope).orElse(Scope.TENANT);
            String header = operation
                    .map(found -> found.profile().keyHeader())
                    .filter(request.headers()::has)
                    .orElse(KeyHeader.NAME);
            String value = KeyHeader.parse(header, request.headers().values(header));
            Optional<Entry> entry = once.find(new Key(tenant, name == null ? "status" : name, value, scope))
                    .filter(found -> credentials.isEmpty() || isFor(found, credentials.get()));
            return entry.isEmpty() ? profile.refuse(Problem.KEY_UNKNOWN.report()) : describe(entry.get());
        } catch (MalformedKey e) {
            return profile.refuse(RequestCheck.report(e));
        } catch (StoreException e) {
            return profile.refuse(Problem.STORE_UNAVAILABLE.report().retryAfter(Answers.RETRY_AFTER_STORE));
        }
    }

    /** Another caller's entry looks like none. */
    private boolean isFor(Entry entry, String credentials) {
        return routes.named(entry.operation())
                .map(Operation::fingerprinter)
                .orElse(Fingerprinter.standard())
                .isFor(entry.fingerprint(), credentials);
    }

    private HttpAnswer describe(Entry entry) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("operation", entry.operation());
        body.put("state", entry.state().name().toLowerCase(Locale.ROOT));
        body.put("attempt", entry.attempt());
        body.put("createdAt", entry.createdAt().toString());
        if (entry.settledAt() != null) {
            body.put("settledAt", entry.settledAt().toString());
        }
        if (entry.expiresAt() != null) {
            body.put("expiresAt", entry.expiresAt().toString());
        }
        once.result(entry).flatMap(StoredResponse::decode).ifPresent(response -> {
            body.put("responseStatus", response.status());
            body.put("responseStored", response.body().isPresent());
            response.headers().first("Location").ifPresent(location -> body.put("location", location));
        });
        Headers headers = Headers.of("Content-Type", "application/json", "Cache-Control", "no-store");
        if (entry.state() == State.PENDING || entry.state() == State.PROCESSING) {
            headers = headers.plus("Retry-After", ErrorFormat.seconds(entry.leaseLeft()));
        }
        return new HttpAnswer(200, headers, ErrorFormat.json(body));
    }

    private static @Nullable String operationName(@Nullable String query) {
        if (query == null) {
            return null;
        }
        for (String parameter : query.split("&")) {
            if (parameter.startsWith("operation=")) {
                String value = parameter.substring("operation=".length());
                return PercentCoding.decode(value.replace('+', ' '));
            }
        }
        return null;
    }
}
