package dev.onlyonce.store;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Entries in this process's memory: for tests, and for data that need not survive the process. It is also the shortest
 * complete implementation of {@link Store}. One lock guards everything.
 */
public final class MemoryStore implements Store {
    private static final String CLAIMED = "claimed";
    private static final String OVER = "its retention is over";

    private final Time time;
    private final NavigableMap<EntryId, Row> rows = new TreeMap<>();
    private final MemoryAudit audit = new MemoryAudit();

    /** An empty store that follows the given clock. */
    public MemoryStore(Time time) {
        this.time = time;
    }

    @Override
    public synchronized List<ClaimResult> claim(List<ClaimRequest> requests) {
        return requests.stream().map(this::claim).toList();
    }

    private ClaimResult claim(ClaimRequest request) {
        Instant now = time.now();
        Row row = live(request.id(), now);
        if (row == null) {
            row = new Row(request, now);
            Row before = rows.put(request.id(), row);
            if (before != null) {
                record(request.id(), before, before.state, null, request.owner(), OVER);
            }
            String why = row.state == State.PENDING ? "accepted" : CLAIMED;
            record(request.id(), row, null, row.state, row.owner, why);
            return new ClaimResult.Claimed(row.attempt);
        }
        if (row.state == request.start() && request.token().equals(row.token)) {
            row.leaseUntil = now.plus(row.terms.lease());
            return new ClaimResult.Claimed(row.attempt);
        }
        if (request.start() == State.PROCESSING
                && row.state.canBecome(State.PROCESSING)
                && row.operation.equals(request.operation())
                && row.fingerprint.matches(request.fingerprint())) {
            State from = row.state;
            row.take(request, now);
            record(request.id(), row, from, row.state, row.owner, CLAIMED);
            return new ClaimResult.Claimed(row.attempt);
        }
        return new ClaimResult.Existing(row.read(request.id(), now));
    }

    @Override
    public synchronized List<SettleResult> settle(List<Settlement> settlements) {
        return settlements.stream().map(this::settle).toList();
    }

    private SettleResult settle(Settlement settlement) {
        Instant now = time.now();
        Row row = live(settlement.id(), now);
        if (row == null || !settlement.token().equals(row.token)) {
            return lost(row, now);
        }
        if (row.state == State.PROCESSING) {
            row.settle(settlement.to(), settlement.result(), now);
            record(settlement.id(), row, State.PROCESSING, row.state, row.owner, settlement.reason());
        } else if (row.state != settlement.to()) {
            return lost(row, now);
        }
        return row.settled();
    }

    private static SettleResult lost(@Nullable Row row, Instant now) {
        return new SettleResult.Lost(row == null ? null : row.stateAt(now));
    }

    @Override
    public synchronized List<RenewResult> renew(List<Renewal> renewals) {
        return renewals.stream().map(this::renew).toList();
    }

    private RenewResult renew(Renewal renewal) {
        Row row = rows.get(renewal.id());
        if (row == null || row.state != State.PROCESSING || !renewal.token().equals(row.token)) {
            return RenewResult.LOST;
        }
        row.leaseUntil = time.now().plus(renewal.lease());
        return RenewResult.RENEWED;
    }

    @Override
    public synchronized List<Optional<Entry>> find(List<EntryId> ids) {
        Instant now = time.now();
        return ids.stream()
                .map(id -> Optional.ofNullable(live(id, now)).map(row -> row.read(id, now)))
                .toList();
    }

    @Override
    public synchronized List<Transition> sweep(int limit) {
        Instant now = time.now();
        List<Transition> swept = new ArrayList<>();
        for (var entry : rows.entrySet()) {
            Row row = entry.getValue();
            boolean pending = row.state == State.PENDING;
            boolean waiting = pending || row.state == State.PROCESSING;
            if (swept.size() < limit && waiting && !row.leaseUntil.isAfter(now)) {
                State next = pending ? State.FAILED : row.terms.onLeaseLost().next();
                String why = pending ? "nobody took it in time" : "the lease ran out";
                State from = row.state;
                row.settle(next, null, now);
                row.token = null;
                swept.add(record(entry.getKey(), row, from, next, "sweeper", why));
            }
        }
        return swept;
    }

    @Override
    public synchronized int purge(int limit) {
        Instant now = time.now();
        int purged = 0;
        var iterator = rows.entrySet().iterator();
        while (iterator.hasNext() && purged < limit) {
            var entry = iterator.next();
            Row row = entry.getValue();
            if (row.isGone(now)) {
                iterator.remove();
                purged++;
            } else if (row.state != State.EXPIRED && row.stateAt(now) == State.EXPIRED) {
                row.state = State.EXPIRED;
                row.result = null;
                purged++;
            }
        }
        return purged;
    }

    @Override
    public synchronized List<SettleResult> resolve(List<Resolution> resolutions) {
        return resolutions.stream().map(this::resolve).toList();
    }

    private SettleResult resolve(Resolution resolution) {
        Instant now = time.now();
        Row row = live(resolution.id(), now);
        if (row == null
                || row.state != State.UNKNOWN
                || row.attempt != resolution.attempt()
                || !resolution.isAbout(row.createdAt)) {
            return lost(row, now);
        }
        row.settle(resolution.to(), resolution.result(), now);
        row.token = null;
        record(resolution.id(), row, State.UNKNOWN, row.state, resolution.who(), resolution.reason());
        return row.settled();
    }

    @Override
    public synchronized Optional<Transition> evict(EntryId id, String who, String reason) {
        Instant now = time.now();
        Row row = live(id, now);
        if (row == null || !row.state.isPurgeable()) {
            return Optional.empty();
        }
        rows.remove(id);
        record(id, row, row.state, null, AuditText.who(who), AuditText.why(reason));
        return Optional.of(new Transition(id, row.operation, row.stateAt(now), null, row.attempt, who, reason));
    }

    @Override
    public synchronized List<Entry> list(EntryQuery query) {
        Instant now = time.now();
        var after = query.after();
        var candidates = after == null ? rows : rows.tailMap(after, false);
        return candidates.entrySet().stream()
                .filter(e -> !e.getValue().isGone(now))
                .map(e -> e.getValue().read(e.getKey(), now))
                .filter(e -> query.tenant() == null || query.tenant().equals(e.id().tenant()))
                .filter(e -> query.operation() == null || query.operation().equals(e.operation()))
                .filter(e -> query.state() == null || query.state() == e.state())
                .filter(e -> query.olderThan() == null
                        || !e.createdAt().plus(query.olderThan()).isAfter(now))
                .limit(query.limit())
                .toList();
    }

    @Override
    public synchronized List<AuditRecord> history(EntryId id) {
        return audit.history(id);
    }

    @Override
    public synchronized List<AuditRecord> audit(AuditQuery query) {
        return audit.list(query);
    }

    @Override
    public synchronized int purgeAudit(Duration retention, int limit) {
        return audit.purge(time.now().minus(retention), limit);
    }

    private Transition record(EntryId id, Row row, @Nullable State from, @Nullable State to, String who, String why) {
        Transition transition = new Transition(id, row.operation, from, to, row.attempt, who, why);
        audit.add(transition, time.now());
        return transition;
    }

    @Override
    public Optional<Instant> now() {
        return Optional.of(time.now());
    }

    @Override
    public void close() {}

    private @Nullable Row live(EntryId id, Instant now) {
        Row row = rows.get(id);
        return row == null || row.isGone(now) ? null : row;
    }

    /** The mutable row; only touched under the store's lock. */
    private static final class Row {
        private final String operation;
        private final Fingerprint fingerprint;
        private Terms terms;
        private final Instant createdAt;
        private State state;
        private @Nullable UUID token;
        private String owner;
        private int attempt;
        private Instant leaseUntil;
        private @Nullable Instant settledAt;
        private @Nullable Instant expiresAt;
        private byte @Nullable [] result;

        Row(ClaimRequest request, Instant now) {
            operation = request.operation();
            fingerprint = request.fingerprint();
            createdAt = now;
            take(request, now);
        }

        void take(ClaimRequest request, Instant now) {
            state = request.start();
            token = request.token();
            owner = request.owner();
            attempt += state == State.PROCESSING ? 1 : 0;
            terms = request.terms();
            leaseUntil = now.plus(terms.lease());
            settledAt = null;
            expiresAt = null;
        }

        void settle(State to, byte @Nullable [] result, Instant now) {
            if (!state.canBecome(to)) {
                throw new IllegalStateException(state + " cannot become " + to);
            }
            this.state = to;
            this.result = result;
            settledAt = now;
            expiresAt = to.isPurgeable() ? now.plus(terms.retention()) : null;
        }

        SettleResult.Settled settled() {
            return new SettleResult.Settled(requireNonNull(settledAt), expiresAt);
        }

        State stateAt(Instant now) {
            boolean over = expiresAt != null && !expiresAt.isAfter(now);
            return over && state.isAnswered() ? State.EXPIRED : state;
        }

        boolean isGone(Instant now) {
            if (expiresAt == null) {
                return false;
            }
            Instant end = state == State.RETRYABLE ? expiresAt : expiresAt.plus(terms.tombstone());
            return !end.isAfter(now);
        }

        Entry read(EntryId id, Instant now) {
            State shown = stateAt(now);
            return new Entry(
                    id,
                    operation,
                    fingerprint,
                    shown,
                    token,
                    owner,
                    attempt,
                    terms,
                    createdAt,
                    leaseUntil,
                    settledAt,
                    expiresAt,
                    shown == State.EXPIRED ? null : result,
                    now);
        }
    }
}
