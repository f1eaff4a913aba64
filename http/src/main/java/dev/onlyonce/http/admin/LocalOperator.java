package dev.onlyonce.http.admin;

import dev.onlyonce.Event;
import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.DeadLetterBox;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Works on the store itself, for one caller. Every change is audited there, and written to the log {@code dev.onlyonce.audit}. */
public final class LocalOperator implements AdminOperator {
    private static final Logger audit = LoggerFactory.getLogger("dev.onlyonce.audit");
    private static final int TENANTS_MAX = 100;
    /** Tenants whose keys are counted, each up to a bound. */
    private static final int TENANTS_COUNTED = 20;

    private final AdminParts parts;
    private final Refs refs;
    private final Glance glance;
    private final Caller caller;
    private final KeyDesk keys;
    private final Runnable onClose;

    private LocalOperator(AdminParts parts, Refs refs, Glance glance, Caller caller, Runnable onClose) {
        this.parts = parts;
        this.refs = refs;
        this.glance = glance;
        this.caller = caller;
        this.onClose = onClose;
        keys = new KeyDesk(parts, refs, caller);
    }

    /** For somebody who may do and see everything; {@link #as} is for others. */
    public LocalOperator(AdminParts parts, String who, Runnable onClose) {
        this(parts, new Refs(), new Glance(parts), Caller.operator(who), onClose);
    }

    /** The same for another caller. */
    LocalOperator as(Caller other) {
        return new LocalOperator(parts, refs, glance, other, onClose);
    }

    AdminParts parts() {
        return parts;
    }

    @Override
    public Overview overview() {
        NodeWatch watch = parts.watch();
        String name = parts.once().registry().name();
        Map<String, Number> numbers = new LinkedHashMap<>(parts.program().numbers());
        numbers.putIfAbsent("liveClaims", parts.once().liveClaims());
        Overview.Mine mine = new Overview.Mine(
                name,
                parts.program().version(),
                watch == null ? now() : watch.startedAt().toString(),
                watch == null ? 0 : watch.uptime().toSeconds(),
                watch == null ? Map.of() : watch.hour().perSecond(),
                watch == null ? Map.of() : watch.hour().percentiles(),
                parts.program().handlerName(),
                Count.exact(watch == null ? 0 : watch.hour().lapsedLeases()),
                numbers);
        return new Overview(now(), mine, glance.look());
    }

    private String now() {
        return parts.once().registry().time().now().toString();
    }

    @Override
    public Series series(long since) {
        NodeWatch watch = parts.watch();
        if (watch == null) {
            throw new Refused(false, "Nothing has watched this node: ask a running gateway");
        }
        return watch.hour().series(since);
    }

    @Override
    public Page keys(KeyFilter filter) {
        return keys.list(filter);
    }

    @Override
    public Optional<KeyView> key(KeyName name) {
        return keys.show(name);
    }

    @Override
    public History history(KeyName name) {
        return keys.history(name);
    }

    @Override
    public Matching match(KeyName name, Matching.Sample request) {
        return keys.match(name, request);
    }

    @Override
    public KeyView resolve(KeyName name, Finding finding) {
        return keys.resolve(name, finding);
    }

    @Override
    public KeyView note(KeyName name, String text) {
        return keys.note(name, text);
    }

    @Override
    public void evict(KeyName name, String reason) {
        keys.evict(name, reason);
    }

    @Override
    public Backlog reconcileList(KeyFilter filter) {
        return keys.unknown(filter);
    }

    @Override
    public ReconcileRun reconcileRun(@Nullable KeyName name) {
        return keys.reconcile(name);
    }

    @Override
    public Resolved reconcileResolve(List<AtAttempt> which, Finding finding) {
        return keys.resolveAll(which, finding);
    }

    @Override
    public DeadLetters outboxList(long after, int limit) {
        DeadLetterBox outbox = parts.outbox();
        List<DeadLetter> letters = outbox == null
                ? List.of()
                : outbox.letters(after, limit).stream()
                        .map(letter -> view(letter, false))
                        .toList();
        Long next = letters.size() < limit || letters.isEmpty()
                ? null
                : letters.get(letters.size() - 1).id();
        NodeWatch watch = parts.watch();
        return new DeadLetters(
                letters,
                next,
                keys.now().toString(),
                watch == null ? List.of() : watch.consumerLetters(),
                watch == null
                        ? List.of()
                        : watch.messages().stream().map(it -> view(it, false)).toList(),
                watch == null ? "nothing" : watch.scope());
    }

    @Override
    public DeadLetter outboxShow(long id) {
        return outbox().letter(id)
                .map(letter -> view(letter, true))
                .orElseThrow(() -> new Refused(true, "There is no dead letter with the number " + id));
    }

    @Override
    public GivenUpMessage outboxMessage(long id) {
        NodeWatch watch = parts.watch();
        return Optional.ofNullable(watch)
                .flatMap(it -> it.message(id))
                .map(message -> view(message, true))
                .orElseThrow(() -> new Refused(
                        true,
                        "This node does not remember a message with the number " + id
                                + ": it keeps the last ones since its start"));
    }

    private GivenUpMessage view(NodeWatch.Message message, boolean whole) {
        Event.GivenUp what = message.what();
        Payload shown = whole && caller.payloads() ? Payload.of(what.body()) : Payload.NONE;
        return new GivenUpMessage(
                message.id(),
                what.group(),
                what.topic(),
                what.coordinates(),
                what.reason(),
                what.text(),
                what.tries(),
                message.at().toString(),
                message.bytes(),
                shown.text(),
                shown.base64(),
                message.bytes() > what.body().length ? true : null,
                whole && !caller.payloads() ? Payload.HIDDEN : null);
    }

    private DeadLetter view(DeadLetterBox.Letter letter, boolean whole) {
        KeyViews views = keys.views();
        Payload shown = whole && caller.payloads() ? Payload.of(letter.payload()) : Payload.NONE;
        return new DeadLetter(
                letter.id(),
                views.ref(letter.entry()),
                letter.entry().tenant(),
                views.key(letter.entry().key()),
                letter.operation(),
                letter.topic(),
                letter.tries(),
                letter.acceptedAt().toString(),
                letter.providerId(),
                letter.lastError(),
                whole ? letter.payload().length : null,
                shown.text(),
                shown.base64(),
                whole && !caller.payloads() ? Payload.HIDDEN : null);
    }

    @Override
    public void outboxRetry(long id, String reason) {
        KeyDesk.requireReason(reason);
        if (!outbox().retry(id, caller.who(), reason)) {
            throw new Refused(true, "There is no dead letter with the number " + id);
        }
        audit.info("{} lets dead letter {} be tried again: {}", caller.who(), id, AuditText.why(reason));
    }

    @Override
    public void outboxDrop(long id, String reason) {
        KeyDesk.requireReason(reason);
        if (!outbox().drop(id, caller.who(), reason)) {
            throw new Refused(true, "There is no dead letter with the number " + id);
        }
        audit.info("{} dropped dead letter {}: {}", caller.who(), id, AuditText.why(reason));
    }

    private DeadLetterBox outbox() {
        DeadLetterBox outbox = parts.outbox();
        if (outbox == null) {
            throw new Refused(false, "this store has no outbox: dead letters are kept in SQL databases only");
        }
        return outbox;
    }

    @Override
    public Operations operations() {
        return OperationViews.of(parts);
    }

    @Override
    public TopTenants tenants(int limit) {
        NodeWatch watch = parts.watch();
        if (limit < 1 || limit > TENANTS_MAX) {
            throw new IllegalArgumentException("limit must be between 1 and " + TENANTS_MAX + ": " + limit);
        }
        List<TopTenants.TenantView> views = new ArrayList<>();
        if (watch != null) {
            List<Map.Entry<String, NodeWatch.Decisions>> top = watch.tenants(limit);
            Map<String, Count> stored = glance.stored(
                    top.stream().limit(TENANTS_COUNTED).map(Map.Entry::getKey).toList());
            top.forEach(it -> views.add(view(it.getKey(), it.getValue(), stored.get(it.getKey()))));
        }
        return new TopTenants(
                watch == null ? "nothing" : watch.scope(),
                views,
                parts.program().tenantLimits());
    }

    private static TopTenants.TenantView view(String tenant, NodeWatch.Decisions seen, @Nullable Count live) {
        long duplicates = seen.of(Event.Decision.REPLAY)
                + seen.of(Event.Decision.IN_PROGRESS)
                + seen.of(Event.Decision.UNKNOWN)
                + seen.of(Event.Decision.EXPIRED);
        return new TopTenants.TenantView(
                tenant,
                seen.of(Event.Decision.CREATED) + seen.of(Event.Decision.FAILED_RETRY),
                duplicates,
                seen.of(Event.Decision.KEY_MISUSE),
                seen.limited(),
                live);
    }

    @Override
    public void storeAccept(String reason) {
        KeyDesk.requireReason(reason);
        try {
            parts.once().operator().acceptStore(caller.who(), reason);
        } catch (IllegalStateException e) {
            throw new Refused(false, String.valueOf(e.getMessage()));
        }
        audit.warn("{} accepted the store as it is: {}", caller.who(), AuditText.why(reason));
    }

    @Override
    public SchemaView schemaStatus() {
        Tables tables = parts.tables();
        return tables == null ? opened() : tables.status();
    }

    @Override
    public SchemaView schemaApply() {
        Tables tables = parts.tables();
        SchemaView view = tables == null ? opened() : tables.apply();
        audit.info("{} applied the schema: version {}", caller.who(), view.installed());
        return view;
    }

    @Override
    public String schemaScript(String database) {
        Tables tables = parts.tables();
        if (tables == null) {
            throw new Refused(false, "this store has no tables");
        }
        return tables.script(database);
    }

    /** Tables of other stores are checked, and created if asked for, when they are opened. */
    private SchemaView opened() {
        int version = parts.store().schemaVersion();
        if (version == 0) {
            throw new Refused(false, "this store has no schema: there is nothing to create or to check");
        }
        return new SchemaView("this store", version, version, true);
    }

    @Override
    public Stats stats() {
        StateCounts counts = glance.counts();
        Map<String, Long> entries = new LinkedHashMap<>();
        for (State state : State.values()) {
            entries.put(state.name().toLowerCase(Locale.ROOT), counts.of(state));
        }
        Map<String, Number> numbers = new LinkedHashMap<>(parts.program().numbers());
        return new Stats(entries, Count.of(0, counts.kind()).kind(), numbers);
    }

    /** What was opened for it is closed; the store stays its owner's otherwise. */
    @Override
    public void close() {
        onClose.run();
    }
}
