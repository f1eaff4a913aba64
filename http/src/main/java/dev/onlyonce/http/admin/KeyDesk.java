package dev.onlyonce.http.admin;

import dev.onlyonce.Key;
import dev.onlyonce.Reconciler;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a caller does with keys. Every change is audited in the store, and written to the log {@code dev.onlyonce.audit}. */
final class KeyDesk {
    /** One batch: an operator waits for it, and sees the next. */
    static final int RESOLVED_MAX = 100;
    /** More unknown keys than an operator reads through. */
    private static final int UNKNOWN_MAX = 1000;
    /** Keys of a listing whose notes are looked up, each in the audit: a page of the console. */
    private static final int NOTED_MAX = 100;

    private static final Logger audit = LoggerFactory.getLogger("dev.onlyonce.audit");

    private final AdminParts parts;
    private final Store store;
    private final Refs refs;
    private final Caller caller;
    private final KeyViews views;

    KeyDesk(AdminParts parts, Refs refs, Caller caller) {
        this.parts = parts;
        this.store = parts.store();
        this.refs = refs;
        this.caller = caller;
        views = new KeyViews(parts, refs, caller);
    }

    KeyViews views() {
        return views;
    }

    AdminOperator.Page list(AdminOperator.KeyFilter filter) {
        KeySearch.Found found = search(filter);
        return new AdminOperator.Page(
                found.entries().stream().map(views::brief).toList(), next(found), now(found), partial(found));
    }

    private KeySearch.Found search(AdminOperator.KeyFilter filter) {
        String after = filter.after();
        // Who may begin a listing at any text, or ask for a beginning, finds out a key letter by letter.
        if (!caller.wholeKeys() && (filter.prefix() != null || (after != null && !Refs.isSealed(after)))) {
            throw new IllegalArgumentException("keys are not shown to you whole, so you cannot search by them");
        }
        return KeySearch.page(store, filter, after == null ? null : refs.read(after));
    }

    private @Nullable String next(KeySearch.Found found) {
        return found.next() == null ? null : views.ref(found.next());
    }

    private String now(KeySearch.Found found) {
        return found.entries().stream()
                .findFirst()
                .map(Entry::readAt)
                .or(store::now)
                .orElseGet(() -> parts.once().registry().time().now())
                .toString();
    }

    private static @Nullable String partial(KeySearch.Found found) {
        return found.isPartial()
                ? String.format(
                        Locale.ROOT,
                        "No index answers this filter: looked at %,d keys. Go on to search further.",
                        found.lookedAt())
                : null;
    }

    Optional<KeyView> show(AdminOperator.KeyName name) {
        return find(name).map(views::full);
    }

    AdminOperator.History history(AdminOperator.KeyName name) {
        if (name.ref() != null) {
            return new AdminOperator.History(KeyViews.changes(store.history(refs.read(name.ref()))));
        }
        List<AuditRecord> records = new ArrayList<>();
        if (name.operation() != null) {
            records.addAll(store.history(id(name, name.operation())));
        }
        store.history(id(name, "")).stream()
                .filter(record -> isMeant(name, record.transition().operation()))
                .forEach(records::add);
        return new AdminOperator.History(KeyViews.changes(records));
    }

    private static EntryId id(AdminOperator.KeyName name, String scope) {
        String tenant = name.tenant();
        String key = name.key();
        if (tenant == null || key == null) {
            throw new IllegalArgumentException("say which key: tenant and key, or ref");
        }
        return new EntryId(tenant, scope, key);
    }

    /** The entry in the named operation comes first: one that is unique in its tenant may have the same key. */
    private Optional<Entry> find(AdminOperator.KeyName name) {
        if (name.ref() != null) {
            return find(refs.read(name.ref()));
        }
        Optional<Entry> narrow = name.operation() == null ? Optional.empty() : find(id(name, name.operation()));
        return narrow.isPresent() ? narrow : find(id(name, "")).filter(entry -> isMeant(name, entry.operation()));
    }

    private Optional<Entry> find(EntryId id) {
        return store.find(List.of(id)).get(0);
    }

    private static boolean isMeant(AdminOperator.KeyName name, String operation) {
        return name.operation() == null || name.operation().equals(operation);
    }

    private Entry require(AdminOperator.KeyName name) {
        return find(name)
                .orElseThrow(() -> new AdminOperator.Refused(
                        true,
                        "There is no such key of this tenant (for keys that are unique in"
                                + " their operation, name the operation too)"));
    }

    Matching match(AdminOperator.KeyName name, Matching.Sample sample) {
        return RequestMatch.of(parts.program().boundary(), require(name), sample);
    }

    KeyView resolve(AdminOperator.KeyName name, AdminOperator.Finding finding) {
        Entry entry = require(name);
        settle(entry, finding);
        return views.full(require(name));
    }

    private void settle(Entry entry, AdminOperator.Finding finding) {
        State to = target(finding);
        int attempt = finding.attempt() == null ? entry.attempt() : finding.attempt();
        SettleResult result = parts.once()
                .operator()
                .resolve(
                        to == State.COMPLETED
                                ? Resolution.found(
                                        entry.id(), attempt, record(finding.response()), caller.who(), finding.reason())
                                : Resolution.absent(entry.id(), attempt, caller.who(), finding.reason()));
        if (result instanceof SettleResult.Lost lost) {
            State now = lost.now();
            throw new AdminOperator.Refused(
                    now == null,
                    now == State.UNKNOWN
                            ? "It is not attempt " + attempt + " that is unknown; keys show tells which is the latest"
                            : "Only an unknown entry can be resolved, and this one is "
                                    + (now == null ? "gone" : now.name().toLowerCase(Locale.ROOT)));
        }
        audited("resolved as " + finding.outcome(), entry, finding.reason());
    }

    private static State target(AdminOperator.Finding finding) {
        State to = switch (finding.outcome()) {
            case "found" -> State.COMPLETED;
            case "absent" -> State.RETRYABLE;
            default -> throw new IllegalArgumentException("the outcome must be found or absent: " + finding.outcome());
        };
        requireReason(finding.reason());
        if (finding.response() != null && to != State.COMPLETED) {
            throw new IllegalArgumentException("a response can only be recorded for an effect that was found");
        }
        if (finding.attempt() == null && to == State.RETRYABLE) {
            throw new IllegalArgumentException("say which attempt had no effect; keys show tells which is the latest");
        }
        return to;
    }

    private static Optional<byte[]> record(AdminOperator.@Nullable Answer answer) {
        if (answer == null) {
            return Optional.empty();
        }
        List<Headers.Field> fields = new ArrayList<>();
        if (answer.headers() != null) {
            answer.headers().forEach((name, value) -> fields.add(new Headers.Field(name, value)));
        }
        byte[] body = answer.body() == null ? new byte[0] : answer.body().getBytes(StandardCharsets.UTF_8);
        return Optional.of(StoredResponse.of(new HttpAnswer(answer.status(), new Headers(fields), body))
                .encode());
    }

    AdminOperator.Resolved resolveAll(List<AdminOperator.AtAttempt> keys, AdminOperator.Finding finding) {
        if (keys.isEmpty() || keys.size() > RESOLVED_MAX) {
            throw new IllegalArgumentException("name 1 to " + RESOLVED_MAX + " keys at a time, and not " + keys.size());
        }
        // What is wrong with all of them is refused before anything changes.
        target(finding.at(1));
        List<AdminOperator.Resolved.One> results = new ArrayList<>();
        for (AdminOperator.AtAttempt key : keys) {
            results.add(resolveOne(key, finding));
        }
        return new AdminOperator.Resolved(results);
    }

    private AdminOperator.Resolved.One resolveOne(AdminOperator.AtAttempt key, AdminOperator.Finding finding) {
        String ref = key.ref() == null ? "" : key.ref();
        try {
            Entry entry = require(key.name());
            ref = ref.isEmpty() ? views.ref(entry.id()) : ref;
            settle(entry, finding.at(key.attempt()));
            return new AdminOperator.Resolved.One(ref, true, null);
        } catch (AdminOperator.Refused | IllegalArgumentException e) {
            return new AdminOperator.Resolved.One(ref, false, e.getMessage());
        } catch (StoreException e) {
            return new AdminOperator.Resolved.One(ref, false, "The store cannot be used: " + e.getMessage());
        }
    }

    KeyView note(AdminOperator.KeyName name, String text) {
        if (isInvisible(text)) {
            throw new IllegalArgumentException("a note needs a text");
        }
        Entry entry = require(name);
        Key key = Key.of(entry.id(), entry.operation());
        if (!parts.once().operator().note(key, entry.attempt(), caller.who(), text)) {
            throw new AdminOperator.Refused(
                    false,
                    "Only an unknown entry takes notes, and this one is "
                            + require(name).state().name().toLowerCase(Locale.ROOT));
        }
        audited("left a note about", entry, text);
        return views.full(require(name));
    }

    void evict(AdminOperator.KeyName name, String reason) {
        requireReason(reason);
        Entry entry = require(name);
        if (!parts.once().operator().evict(Key.of(entry.id(), entry.operation()), caller.who(), reason)) {
            throw new AdminOperator.Refused(
                    false,
                    "Only a settled entry can be evicted, and this one is "
                            + entry.state().name().toLowerCase(Locale.ROOT));
        }
        audited("evicted", entry, reason);
    }

    private void audited(String what, Entry entry, String reason) {
        audit.atInfo()
                .addKeyValue("who", caller.who())
                .addKeyValue("entry", entry.id().toString())
                .addKeyValue("from", entry.state().name())
                .addKeyValue("attempt", entry.attempt())
                .addKeyValue("reason", AuditText.why(reason))
                .log("{} {} {}: {}", caller.who(), what, entry.id(), AuditText.why(reason));
    }

    static void requireReason(String reason) {
        if (isInvisible(reason)) {
            throw new IllegalArgumentException("a reason is needed, for the audit");
        }
    }

    /** White space, control characters and characters without width say nothing. */
    private static boolean isInvisible(String text) {
        return text.codePoints()
                .allMatch(c -> Character.isWhitespace(c)
                        || Character.isSpaceChar(c)
                        || Character.isISOControl(c)
                        || Character.getType(c) == Character.FORMAT);
    }

    AdminOperator.Backlog unknown(AdminOperator.KeyFilter filter) {
        KeySearch.Found found = search(new AdminOperator.KeyFilter(
                filter.tenant(),
                filter.operation(),
                "unknown",
                filter.olderThan(),
                filter.newerThan(),
                filter.node(),
                filter.prefix(),
                filter.after(),
                filter.limit()));
        List<String> lookedUp = parts.once().registry().operations().stream()
                .filter(parts::isReconciled)
                .toList();
        List<KeyView> unknown = new ArrayList<>();
        for (Entry entry : found.entries()) {
            unknown.add(views.doubtful(entry, unknown.size() < NOTED_MAX));
        }
        return new AdminOperator.Backlog(unknown, lookedUp, next(found), now(found), "id", partial(found));
    }

    AdminOperator.ReconcileRun reconcile(AdminOperator.@Nullable KeyName name) {
        if (parts.program() == Program.NONE) {
            throw new AdminOperator.Refused(
                    false, "Look-ups are configured in the gateway: run this without --db, against a gateway");
        }
        if (name != null) {
            Entry entry = require(name);
            if (entry.state() != State.UNKNOWN) {
                throw new AdminOperator.Refused(
                        false,
                        "Only an unknown entry can be asked about, and this one is "
                                + entry.state().name().toLowerCase(Locale.ROOT));
            }
            Reconciler.Round round = parts.once().operator().reconcile(entry);
            return run(round, parts.isReconciled(entry.operation()) ? 0 : 1);
        }
        Reconciler.Round round = parts.once().operator().reconcile();
        long withoutLookUp = parts
                .once()
                .operator()
                .list(EntryQuery.all(UNKNOWN_MAX).in(State.UNKNOWN))
                .stream()
                .filter(entry -> !parts.isReconciled(entry.operation()))
                .count();
        return run(round, (int) withoutLookUp);
    }

    private static AdminOperator.ReconcileRun run(Reconciler.Round round, int withoutLookUp) {
        return new AdminOperator.ReconcileRun(
                round.asked(), round.found(), round.absent(), round.undecided(), withoutLookUp);
    }

    Instant now() {
        return store.now().orElseGet(() -> parts.once().registry().time().now());
    }
}
