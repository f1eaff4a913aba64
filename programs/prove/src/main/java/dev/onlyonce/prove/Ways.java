package dev.onlyonce.prove;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Reconciler;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.inbox.Inbox;
import dev.onlyonce.sql.inbox.InboxMessage;
import dev.onlyonce.sql.outbox.Accepted;
import dev.onlyonce.sql.outbox.Delivery;
import dev.onlyonce.sql.outbox.DeliveryHandler;
import dev.onlyonce.sql.outbox.Outbox;
import dev.onlyonce.sql.outbox.OutboxCall;
import dev.onlyonce.sql.outbox.OutboxRow;
import dev.onlyonce.sql.steps.StepReconciler;
import dev.onlyonce.sql.steps.Steps;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** What a node does for a request: a payment, in each of the four ways. */
final class Ways {
    static final String CREATE = "CREATE TABLE IF NOT EXISTS prove_effect ("
            + "tenant varchar(40) NOT NULL, way varchar(20) NOT NULL, name varchar(40) NOT NULL, body varchar(80) NOT NULL,"
            + " id varchar(60) NOT NULL, node varchar(20) NOT NULL)";
    private static final String INSERT =
            "INSERT INTO prove_effect (tenant, way, name, body, id, node) VALUES (?, ?, ?, ?, ?, ?)";
    private static final List<String> STEPS = List.of("one", "two");
    private static final String CALL = "charge";
    private static final Duration AWAIT_MAX = Duration.ofSeconds(1);
    private static final int WORK_MILLIS_MAX = 100;

    private final String node;
    private final StoreAccess access;
    private final LedgerClient ledger;
    private final Onlyonce once;
    private final @Nullable Transactions transactions;
    private final @Nullable Steps steps;
    private final @Nullable Inbox inbox;
    private final @Nullable Outbox outbox;

    Ways(String node, Store store, StoreAccess access, LedgerClient ledger, Time time) {
        this.node = node;
        this.access = access;
        boolean sql = access.isSql();
        this.ledger = ledger;
        Onlyonce.Builder builder = Onlyonce.builder(store)
                .node(node)
                .time(time)
                .lease(Timing.LEASE)
                .callMax(Timing.CALL_MAX)
                .cacheFor(Timing.CACHE_FOR)
                .storeWaitMax(Timing.LEASE.multipliedBy(2))
                .sweepEvery(Timing.SWEEP_EVERY)
                .reconciler(Work.Way.LEASED.name(), patient(entry -> ledger.find(work(entry), "")))
                // Decides about dead letters, of which a slow machine has some.
                .reconciler(Work.Way.QUEUED.name(), patient(entry -> ledger.find(work(entry), "")));
        if (store.origin() instanceof SqlStore tables) {
            builder.reconciler(Work.Way.STEPPED.name(), Steps.reconciler(tables, new StepReconciler() {
                @Override
                public Reconciler.Finding reconcile(Entry unknown, String step, String downstreamKey) throws Exception {
                    return ledger.find(work(unknown), step);
                }

                @Override
                public Duration absentAfter() {
                    return Timing.CALL_MAX;
                }
            }));
        }
        once = builder.build();
        transactions = sql ? Transactions.of(once) : null;
        steps = sql ? Steps.of(once) : null;
        inbox = sql ? Inbox.of(once) : null;
        outbox = sql
                ? Outbox.builder(once)
                        .handler(CALL, new Charge())
                        .backoff(Duration.ofMillis(200), Duration.ofSeconds(2))
                        .build()
                : null;
        if (outbox != null) {
            outbox.start();
        }
    }

    private interface Look {
        Reconciler.Finding at(Entry unknown) throws Exception;
    }

    private static Reconciler patient(Look look) {
        return new Reconciler() {
            @Override
            public Finding reconcile(Entry unknown) throws Exception {
                return look.at(unknown);
            }

            @Override
            public Duration absentAfter() {
                return Timing.CALL_MAX;
            }
        };
    }

    private static Work work(Entry entry) {
        return new Work(
                entry.id().tenant(),
                Work.Way.valueOf(entry.operation()),
                entry.id().key());
    }

    Outcome<String> execute(Work work, String body) throws Exception {
        Fingerprint print = Fingerprint.of(body.getBytes(UTF_8));
        return switch (work.way()) {
            case LEASED -> leased(work, print, body);
            case TRANSACTIONAL -> transactional(work, print, body);
            case STEPPED -> stepped(work, print, body);
            case QUEUED -> queued(work, print, body);
            case CONSUMED -> consumed(work, print, body);
            case PROXIED -> throw new IllegalArgumentException("a gateway does that");
        };
    }

    private Outcome<String> leased(Work work, Fingerprint print, String body) throws Exception {
        return once.execute(work.key(), print, Codec.text(), claim -> {
            workABit();
            long looked = System.nanoTime();
            claim.ensureHeld();
            String id = ledger.charge(work, "", body, looked);
            workWithTheResult();
            return id;
        });
    }

    private Outcome<String> transactional(Work work, Fingerprint print, String body) throws SQLException {
        return given(transactions).execute(work.key(), print, Codec.text(), tx -> {
            String id = UUID.randomUUID().toString();
            insert(tx, work, body, id);
            workABit();
            return id;
        });
    }

    private void insert(Connection tx, Work work, String body, String id) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement(INSERT)) {
            insert.setString(1, work.tenant());
            insert.setString(2, work.way().name());
            insert.setString(3, work.name());
            insert.setString(4, body);
            insert.setString(5, id);
            insert.setString(6, node);
            insert.executeUpdate();
        }
    }

    private Outcome<String> stepped(Work work, Fingerprint print, String body) throws Exception {
        return given(steps).execute(work.key(), print, Codec.text(), run -> {
            StringBuilder ids = new StringBuilder();
            for (String step : STEPS) {
                long looked = System.nanoTime();
                ids.append(run.effect(step, Codec.text(), key -> ledger.charge(work, step, body, looked)))
                        .append(' ');
                workABit();
            }
            return ids.toString().strip();
        });
    }

    private Outcome<String> queued(Work work, Fingerprint print, String body) throws Exception {
        Outbox queue = given(outbox);
        Accepted<String> accepted;
        try (Connection tx = access.connection()) {
            tx.setAutoCommit(false);
            accepted = queue.accept(tx, work.key(), print, Codec.text(), new OutboxCall(CALL, body.getBytes(UTF_8)));
            tx.commit();
        }
        return queue.await(work.key(), print, Codec.text(), AWAIT_MAX).orElseGet(accepted::outcome);
    }

    /** The answer is the acknowledgement. It names the effect, which has the name of the message. */
    private Outcome<String> consumed(Work work, Fingerprint print, String body) throws Exception {
        InboxMessage message = new InboxMessage(work.tenant(), work.name(), print);
        String id = "applied-" + work.tenant() + "-" + work.name();
        boolean applied = given(inbox).apply(message, tx -> {
            insert(tx, work, body, id);
            workABit();
        });
        return applied ? new Outcome.Executed<>(id, Instant.EPOCH) : new Outcome.Replayed<>(id, Instant.EPOCH);
    }

    private final class Charge implements DeliveryHandler {
        @Override
        public Delivery deliver(OutboxRow row) throws Exception {
            Key key = row.key();
            Work work = new Work(key.tenant(), Work.Way.QUEUED, key.value());
            String id = ledger.charge(work, "", new String(row.payload(), UTF_8), System.nanoTime());
            return new Delivery.Delivered(id, Codec.text().encode(id));
        }

        @Override
        public Duration keyLifetime() {
            return Duration.ofHours(1);
        }
    }

    private static void workABit() {
        Pause.millis(ThreadLocalRandom.current().nextInt(WORK_MILLIS_MAX));
    }

    /** An owner that has its result and has not settled: a pause now is the most dangerous one. */
    private static void workWithTheResult() {
        if (ThreadLocalRandom.current().nextInt(3) == 0) {
            Pause.millis(ThreadLocalRandom.current().nextInt(5 * WORK_MILLIS_MAX));
        }
    }

    private static <T> T given(@Nullable T way) {
        if (way == null) {
            throw new IllegalArgumentException("this store cannot execute in this way");
        }
        return way;
    }
}
