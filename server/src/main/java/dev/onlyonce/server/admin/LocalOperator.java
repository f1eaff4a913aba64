package dev.onlyonce.server.admin;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.server.config.Quantity;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.sql.schema.Schema;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.AuditText;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Works on the store itself. Every change is audited there, and written to the log {@code dev.onlyonce.audit}. */
public final class LocalOperator implements AdminOperator {
    /** More unknown keys than an operator reads through. */
    private static final int UNKNOWN_MAX = 1000;

    private static final Logger audit = LoggerFactory.getLogger("dev.onlyonce.audit");
    private static final int COUNTED_MAX = 10_000;

    private final Onlyonce once;
    private final Store store;
    /** Null if the store has none. */
    private final @Nullable Outbox outbox;

    private final String who;
    private final @Nullable RunningGateway gateway;

    /** What only a running gateway knows. */
    public interface RunningGateway {
        /** The operations that have a look-up. */
        List<String> operationsWithLookUp();

        /** What it is doing. */
        Map<String, Number> numbers();
    }

    /** For the admin API of a gateway or, without one, for the command line. */
    public LocalOperator(Onlyonce once, Store store, String who, @Nullable RunningGateway gateway) {
        this.once = once;
        this.store = store;
        this.outbox = store instanceof SqlStore ? Outbox.of(once) : null;
        this.who = who;
        this.gateway = gateway;
    }

    @Override
    public Page keys(KeyFilter filter) {
        EntryQuery query = new EntryQuery(
                filter.tenant(),
                filter.operation(),
                filter.state() == null ? null : state(filter.state()),
                filter.olderThan() == null ? null : Quantity.duration(filter.olderThan()),
                filter.after() == null ? null : Cursor.decode(filter.after()),
                filter.limit());
        List<Entry> entries = once.operator().list(query);
        String next = entries.size() < filter.limit()
                ? null
                : Cursor.encode(entries.get(entries.size() - 1).id());
        return new Page(entries.stream().map(KeyViews::brief).toList(), next);
    }

    private static State state(String name) {
        try {
            return State.valueOf(name.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "no state \"" + name
                            + "\"; use pending, processing, completed, failed, retryable, unknown or expired",
                    e);
        }
    }

    @Override
    public Optional<KeyView> key(KeyName name) {
        return find(name).map(entry -> KeyViews.full(once, entry));
    }

    @Override
    public History history(KeyName name) {
        List<AuditRecord> records = new ArrayList<>();
        if (name.operation() != null) {
            records.addAll(store.history(new EntryId(name.tenant(), name.operation(), name.key())));
        }
        store.history(new EntryId(name.tenant(), "", name.key())).stream()
                .filter(record -> isMeant(name, record.transition().operation()))
                .forEach(records::add);
        return new History(KeyViews.changes(records));
    }

    /** The entry in the named operation comes first: one that is unique in its tenant may have the same key. */
    private Optional<Entry> find(KeyName name) {
        Optional<Entry> narrow = name.operation() == null
                ? Optional.empty()
                : find(new EntryId(name.tenant(), name.operation(), name.key()));
        return narrow.isPresent()
                ? narrow
                : find(new EntryId(name.tenant(), "", name.key())).filter(entry -> isMeant(name, entry.operation()));
    }

    private Optional<Entry> find(EntryId id) {
        return store.find(List.of(id)).get(0);
    }

    private static boolean isMeant(KeyName name, String operation) {
        return name.operation() == null || name.operation().equals(operation);
    }

    private Entry require(KeyName name) {
        return find(name)
                .orElseThrow(() -> new Refused(
                        true,
                        "There is no such key of this tenant (for keys that are unique in"
                                + " their operation, name the operation too)"));
    }

    @Override
    public KeyView resolve(KeyName name, Finding finding) {
        Entry entry = require(name);
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
        int attempt = finding.attempt() == null ? entry.attempt() : finding.attempt();
        SettleResult result = once.operator()
                .resolve(
                        to == State.COMPLETED
                                ? Resolution.found(
                                        entry.id(), attempt, record(finding.response()), who, finding.reason())
                                : Resolution.absent(entry.id(), attempt, who, finding.reason()));
        if (result instanceof SettleResult.Lost lost) {
            throw new Refused(
                    lost.now() == null,
                    lost.now() == State.UNKNOWN
                            ? "It is not attempt " + attempt + " that is unknown; keys show tells which is the latest"
                            : "Only an unknown entry can be resolved, and this one is "
                                    + (lost.now() == null
                                            ? "gone"
                                            : lost.now().name().toLowerCase(Locale.ROOT)));
        }
        audited("resolved as " + finding.outcome(), entry, finding.reason());
        return KeyViews.full(once, require(name));
    }

    private static Optional<byte[]> record(@Nullable Answer answer) {
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

    @Override
    public void evict(KeyName name, String reason) {
        requireReason(reason);
        Entry entry = require(name);
        if (!once.operator().evict(KeyViews.key(entry), who, reason)) {
            throw new Refused(
                    false,
                    "Only a settled entry can be evicted, and this one is "
                            + entry.state().name().toLowerCase(Locale.ROOT));
        }
        audited("evicted", entry, reason);
    }

    private void audited(String what, Entry entry, String reason) {
        audit.atInfo()
                .addKeyValue("who", who)
                .addKeyValue("entry", entry.id().toString())
                .addKeyValue("from", entry.state().name())
                .addKeyValue("attempt", entry.attempt())
                .addKeyValue("reason", AuditText.why(reason))
                .log("{} {} {}: {}", who, what, entry.id(), AuditText.why(reason));
    }

    @Override
    public Backlog reconcileList(int limit) {
        List<Entry> unknown = once.operator().list(EntryQuery.all(limit).in(State.UNKNOWN));
        return new Backlog(
                unknown.stream().map(KeyViews::brief).toList(),
                gateway == null ? List.of() : gateway.operationsWithLookUp());
    }

    @Override
    public ReconcileRun reconcileRun() {
        if (gateway == null) {
            throw new Refused(
                    false, "Look-ups are configured in the gateway: run this without --db, against a gateway");
        }
        Reconciler.Round round = once.operator().reconcile();
        Set<String> asked = Set.copyOf(gateway.operationsWithLookUp());
        long withoutLookUp = once.operator().list(EntryQuery.all(UNKNOWN_MAX).in(State.UNKNOWN)).stream()
                .filter(entry -> !asked.contains(entry.operation()))
                .count();
        return new ReconcileRun(round.asked(), round.found(), round.absent(), round.undecided(), (int) withoutLookUp);
    }

    @Override
    public DeadLetters outboxList(long after, int limit) {
        return new DeadLetters(
                outbox == null
                        ? List.of()
                        : outbox.listDead(after, limit).stream()
                                .map(LocalOperator::view)
                                .toList());
    }

    private static DeadLetter view(OutboxRow row) {
        return new DeadLetter(
                row.id(),
                row.key().tenant(),
                row.key().value(),
                row.key().operation(),
                row.topic(),
                row.tries(),
                row.acceptedAt().toString(),
                row.providerId(),
                row.lastError());
    }

    @Override
    public void outboxRetry(long id, String reason) {
        requireReason(reason);
        if (!outbox().retry(id, who, reason)) {
            throw new Refused(true, "There is no dead letter with the number " + id);
        }
        audit.info("{} lets dead letter {} be tried again: {}", who, id, AuditText.why(reason));
    }

    @Override
    public void outboxDrop(long id, String reason) {
        requireReason(reason);
        if (!outbox().drop(id, who, reason)) {
            throw new Refused(true, "There is no dead letter with the number " + id);
        }
        audit.info("{} dropped dead letter {}: {}", who, id, AuditText.why(reason));
    }

    private static void requireReason(String reason) {
        if (reason.isBlank()) {
            throw new IllegalArgumentException("a reason is needed, for the audit");
        }
    }

    @Override
    public SchemaView schemaStatus() {
        return store instanceof SqlStore sql ? view(sql.schema().status()) : opened();
    }

    @Override
    public SchemaView schemaApply() {
        SchemaView view = store instanceof SqlStore sql ? view(sql.schema().apply()) : opened();
        audit.info("{} applied the schema: version {}", who, view.installed());
        return view;
    }

    private Outbox outbox() {
        if (outbox == null) {
            throw new Refused(false, "this store has no outbox: dead letters are kept in SQL databases only");
        }
        return outbox;
    }

    /** Tables of other stores are checked, and created if asked for, when they are opened. */
    private SchemaView opened() {
        int version = store.schemaVersion();
        if (version == 0) {
            throw new Refused(false, "this store has no schema: there is nothing to create or to check");
        }
        return new SchemaView("this store", version, version, true);
    }

    private static SchemaView view(Schema.Status status) {
        return new SchemaView(
                status.database().name().toLowerCase(Locale.ROOT),
                status.installed(),
                status.known(),
                status.isCurrent());
    }

    @Override
    public Stats stats() {
        Map<String, Integer> entries = new LinkedHashMap<>();
        for (State state : State.values()) {
            entries.put(state.name().toLowerCase(Locale.ROOT), count(state));
        }
        return new Stats(entries, COUNTED_MAX, gateway == null ? Map.of() : gateway.numbers());
    }

    private int count(State state) {
        int count = 0;
        EntryQuery query = EntryQuery.all(EntryQuery.LIMIT_MAX).in(state);
        while (count < COUNTED_MAX) {
            List<Entry> page = once.operator().list(query);
            count += page.size();
            if (page.size() < EntryQuery.LIMIT_MAX) {
                break;
            }
            query = query.after(page.get(page.size() - 1).id());
        }
        return count;
    }

    /** The store stays its owner's. */
    @Override
    public void close() {
        if (outbox != null) {
            outbox.close();
        }
    }
}
