package dev.onlyonce.http.admin;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Transition;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Entries as a caller may see them. */
final class KeyViews {
    /** The low bits of a fingerprint's version. */
    private static final int ALGORITHM_MASK = 0xff;

    private final AdminParts parts;
    private final Refs refs;
    private final Caller caller;

    KeyViews(AdminParts parts, Refs refs, Caller caller) {
        this.parts = parts;
        this.refs = refs;
        this.caller = caller;
    }

    /** Without the response, which may be large. */
    KeyView brief(Entry entry) {
        return view(entry, null);
    }

    /** With what is known about its unknown outcome. */
    KeyView doubtful(Entry entry, boolean withNote) {
        return view(
                entry, new Detail(reconcile(entry, withNote ? note(entry) : null), null, null, null, null, null, null));
    }

    private KeyView.@Nullable Change note(Entry entry) {
        KeyView.Change last = null;
        for (AuditRecord record : parts.store().history(entry.id())) {
            Transition step = record.transition();
            if (step.attempt() == entry.attempt() && step.from() == State.UNKNOWN && step.to() == State.UNKNOWN) {
                last = change(record);
            }
        }
        return last;
    }

    KeyView full(Entry entry) {
        NodeWatch watch = parts.watch();
        Fingerprint fingerprint = entry.fingerprint();
        return view(
                entry,
                new Detail(
                        entry.state() == State.UNKNOWN ? reconcile(entry, null) : null,
                        entry.readAt().toString(),
                        new KeyView.FingerprintView(
                                "version " + (fingerprint.version() & ALGORITHM_MASK),
                                HexFormat.of().formatHex(fingerprint.digest()),
                                fingerprint.version() > ALGORITHM_MASK),
                        entry.terms().retention().toString(),
                        watch == null ? null : watch.replays(entry.id()),
                        response(entry),
                        changes(parts.store().history(entry.id()))));
    }

    private record Detail(
            KeyView.@Nullable Reconcile reconcile,
            @Nullable String now,
            KeyView.@Nullable FingerprintView fingerprint,
            @Nullable String retention,
            KeyView.@Nullable Replays replays,
            KeyView.@Nullable ResponseView response,
            @Nullable List<KeyView.Change> history) {
        static final Detail NONE = new Detail(null, null, null, null, null, null, null);
    }

    private KeyView view(Entry entry, @Nullable Detail given) {
        Detail detail = given == null ? Detail.NONE : given;
        boolean live = entry.state() == State.PROCESSING || entry.state() == State.PENDING;
        return new KeyView(
                ref(entry.id()),
                entry.id().tenant(),
                key(entry.id().key()),
                caller.wholeKeys() ? null : true,
                entry.operation(),
                entry.fingerprint().target(),
                Key.of(entry.id(), entry.operation()).scope().name().toLowerCase(Locale.ROOT),
                entry.state().name().toLowerCase(Locale.ROOT),
                entry.attempt(),
                entry.owner(),
                entry.createdAt().toString(),
                live ? entry.leaseUntil().toString() : null,
                text(entry.settledAt()),
                text(entry.expiresAt()),
                detail.reconcile(),
                detail.now(),
                detail.fingerprint(),
                detail.retention(),
                detail.replays(),
                detail.now() == null ? null : actions(entry),
                detail.response(),
                detail.history());
    }

    String ref(EntryId id) {
        return refs.of(id, caller.wholeKeys());
    }

    /** A key, as this caller may see it. */
    String key(String key) {
        return caller.wholeKeys() ? key : EntryId.shorten(key);
    }

    private List<String> actions(Entry entry) {
        List<String> actions = new ArrayList<>();
        if (caller.role() == Caller.Role.OPERATOR) {
            if (entry.state() == State.UNKNOWN) {
                actions.add("resolve");
                actions.add("note");
            } else if (entry.state().isPurgeable()) {
                actions.add("evict");
            }
        }
        return actions;
    }

    private KeyView.Reconcile reconcile(Entry entry, KeyView.@Nullable Change note) {
        boolean lookUp = parts.isReconciled(entry.operation());
        Optional<Reconciler.Progress> progress = parts.once().operator().progress(entry);
        Instant now = parts.once().registry().time().now();
        return progress.map(it -> new KeyView.Reconcile(
                        lookUp,
                        it.tries(),
                        it.lastWord(),
                        it.at().toString(),
                        now.plus(it.nextIn()).truncatedTo(ChronoUnit.SECONDS).toString(),
                        note))
                .orElseGet(() -> new KeyView.Reconcile(lookUp, 0, null, null, null, note));
    }

    static List<KeyView.Change> changes(List<AuditRecord> records) {
        return records.stream().map(KeyViews::change).toList();
    }

    private static KeyView.Change change(AuditRecord record) {
        Transition step = record.transition();
        return new KeyView.Change(
                record.at().toString(), step.attempt(), name(step.from()), name(step.to()), step.who(), step.why());
    }

    private static @Nullable String name(@Nullable State state) {
        return state == null ? null : state.name().toLowerCase(Locale.ROOT);
    }

    private static @Nullable String text(@Nullable Instant instant) {
        return instant == null ? null : instant.toString();
    }

    private KeyView.@Nullable ResponseView response(Entry entry) {
        Onlyonce once = parts.once();
        try {
            Optional<byte[]> result = once.result(entry);
            if (result.isEmpty()) {
                return null;
            }
            return StoredResponse.decode(result.get())
                    .map(it -> view(it.status(), it.headers().toMap(), it.body()))
                    // The result of a method has no status.
                    .orElseGet(() -> view(0, Map.of(), result));
        } catch (StoreException | IllegalStateException e) {
            return new KeyView.ResponseView(0, Map.of(), null, null, 0, null, "cannot be read: " + e.getMessage());
        }
    }

    private KeyView.ResponseView view(int status, Map<String, List<String>> headers, Optional<byte[]> body) {
        int size = body.map(bytes -> bytes.length).orElse(0);
        if (!caller.payloads()) {
            return new KeyView.ResponseView(status, Map.of(), null, null, size, null, Payload.HIDDEN);
        }
        Payload shown = body.map(Payload::of).orElse(Payload.NONE);
        return new KeyView.ResponseView(
                status, headers, shown.text(), shown.base64(), size, shown.cut() ? true : null, null);
    }
}
