package dev.onlyonce.server.admin;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Entries as operators see them. */
final class KeyViews {
    private KeyViews() {}

    /** Without the response, which may be large. */
    static AdminOperator.KeyView brief(Entry entry) {
        return view(entry, null, null);
    }

    static AdminOperator.KeyView full(Onlyonce once, Entry entry) {
        Optional<StoredResponse> response = once.result(entry).flatMap(StoredResponse::decode);
        List<AdminOperator.Change> history = changes(once.operator().history(key(entry)));
        return view(entry, response.map(KeyViews::view).orElse(null), history);
    }

    /** The key of an entry. */
    static Key key(Entry entry) {
        return Key.of(entry.id(), entry.operation());
    }

    static List<AdminOperator.Change> changes(List<AuditRecord> records) {
        return records.stream().map(KeyViews::change).toList();
    }

    private static AdminOperator.Change change(AuditRecord record) {
        Transition step = record.transition();
        return new AdminOperator.Change(
                record.at().toString(), step.attempt(), name(step.from()), name(step.to()), step.who(), step.why());
    }

    private static @Nullable String name(@Nullable State state) {
        return state == null ? null : state.name().toLowerCase(Locale.ROOT);
    }

    private static AdminOperator.KeyView view(
            Entry entry, AdminOperator.@Nullable ResponseView response, @Nullable List<AdminOperator.Change> history) {
        boolean live = entry.state() == State.PROCESSING || entry.state() == State.PENDING;
        return new AdminOperator.KeyView(
                entry.id().tenant(),
                entry.id().key(),
                entry.operation(),
                entry.fingerprint().target(),
                key(entry).scope().name().toLowerCase(Locale.ROOT),
                entry.state().name().toLowerCase(Locale.ROOT),
                entry.attempt(),
                entry.owner(),
                entry.createdAt().toString(),
                live ? entry.leaseUntil().toString() : null,
                text(entry.settledAt()),
                text(entry.expiresAt()),
                response,
                history);
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }

    private static AdminOperator.ResponseView view(StoredResponse response) {
        byte[] body = response.body().orElse(null);
        return new AdminOperator.ResponseView(
                response.status(),
                response.headers().toMap(),
                body == null ? null : new String(body, StandardCharsets.UTF_8),
                body == null ? 0 : body.length);
    }
}
