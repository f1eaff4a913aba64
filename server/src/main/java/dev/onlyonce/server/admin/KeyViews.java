package dev.onlyonce.server.admin;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.State;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.store.Entry;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Entries as operators see them. */
final class KeyViews {
    private KeyViews() {}

    /** Without the response, which may be large. */
    static Operator.KeyView brief(Entry entry) {
        return view(entry, null);
    }

    static Operator.KeyView full(Onlyonce once, Entry entry) {
        Optional<StoredResponse> response = once.result(entry).flatMap(StoredResponse::decode);
        return view(entry, response.map(KeyViews::view).orElse(null));
    }

    private static Operator.KeyView view(Entry entry, Operator.@Nullable ResponseView response) {
        boolean live = entry.state() == State.PROCESSING || entry.state() == State.PENDING;
        return new Operator.KeyView(
                entry.id().tenant(),
                entry.id().key(),
                entry.operation(),
                entry.id().space().isEmpty() ? "tenant" : "operation",
                entry.state().name().toLowerCase(Locale.ROOT),
                entry.attempt(),
                entry.owner(),
                entry.createdAt().toString(),
                live ? entry.leaseUntil().toString() : null,
                text(entry.settledAt()),
                text(entry.expiresAt()),
                response);
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }

    private static Operator.ResponseView view(StoredResponse response) {
        byte[] body = response.body().orElse(null);
        return new Operator.ResponseView(
                response.status(),
                response.headers().toMap(),
                body == null ? null : new String(body, StandardCharsets.UTF_8),
                body == null ? 0 : body.length);
    }
}
