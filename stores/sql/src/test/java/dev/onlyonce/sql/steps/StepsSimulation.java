package dev.onlyonce.sql.steps;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.LeaseLost;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Reconciler.Finding;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.testkit.ManualTime;
import java.io.Serial;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/**
 * Three nodes run stepped operations on one SQLite database, and everything goes wrong: crashes, lost commits, outages, owners
 * that are suspended for longer than their lease, evictions, a retention that ends. All of it on one thread, steered by a seed:
 * whoever lets time pass runs, on top of its own stack frame, what falls due meanwhile.
 *
 * <p>{@link StepsLedger} has the rules. When the trouble is over, every client is answered, and no node holds a claim.
 */
final class StepsSimulation {
    private static final int NODES = 3;
    private static final int CLIENTS = 12;
    /** Deeper, clients wait for others to return. */
    private static final int DEPTH_MAX = 6;

    private static final Duration TROUBLE = Duration.ofMinutes(5);
    private static final Duration PATIENCE = Duration.ofMinutes(20);
    private static final Duration OFTEN = Duration.ofSeconds(10);
    /** Long enough to lose a lease of 30 seconds. */
    private static final Duration LONG = Duration.ofSeconds(150);

    private static final Duration SLICE = Duration.ofSeconds(5);

    private static final Fingerprint REQUEST = Fingerprint.of("a payment".getBytes(StandardCharsets.UTF_8));
    private static final List<Key> KEYS = List.of(
            Key.of("acme", "keep", "kept-1"), Key.of("acme", "keep", "kept-2"),
            Key.of("acme", "forget", "forgotten-1"), Key.of("acme", "forget", "forgotten-2"));

    private final Random random;
    private final ManualTime time;
    private final Sources.Opening database;
    private final StepsLedger ledger;
    private final Store store;
    private final List<SimulatedNode> nodes = new ArrayList<>();
    private final Map<String, Integer> happened = new HashMap<>();
    private StepsLedger.Broken broken;
    private boolean healed;
    private int waiting = CLIENTS;
    private int depth;

    /**
     * A world.
     *
     * @param time the database's clock follows it
     * @param store looks at the database and fails never
     */
    StepsSimulation(long seed, ManualTime time, Sources.Opening database, Store store) {
        this.random = new Random(seed);
        this.time = time;
        this.database = database;
        this.store = store;
        this.ledger = new StepsLedger(store);
    }

    /** Runs it; throws {@link AssertionError} if a rule is broken. */
    void play() {
        for (int i = 0; i < NODES; i++) {
            nodes.add(start());
        }
        for (int i = 0; i < CLIENTS; i++) {
            Key key = KEYS.get(random.nextInt(KEYS.size()));
            int wanted = 1 + random.nextInt(3);
            time.schedule(upTo(LONG), () -> send(key, wanted));
        }
        trouble();
        pass(TROUBLE);
        healed = true;
        nodes.forEach(SimulatedNode::heal);
        restart();
        for (long end = time.nanos() + PATIENCE.toNanos(); time.nanos() < end && !isOver(); ) {
            pass(OFTEN);
        }
        expect(waiting == 0, waiting + " clients have no answer");
        expect(unsettled().isEmpty(), "stuck: " + unsettled());
        expect(nodes.stream().allMatch(node -> node.claims() == 0), "D12 claims that nobody settles");
    }

    /** How often things happened. */
    Map<String, Integer> happened() {
        return happened;
    }

    StepsLedger ledger() {
        return ledger;
    }

    private boolean isOver() {
        return waiting == 0 && unsettled().isEmpty() && nodes.stream().allMatch(node -> node.claims() == 0);
    }

    private List<Entry> unsettled() {
        return store.list(EntryQuery.all(EntryQuery.LIMIT_MAX)).stream()
                .filter(entry -> entry.state() == State.PROCESSING || entry.state() == State.UNKNOWN)
                .toList();
    }

    private void expect(boolean holds, String what) {
        if (!holds) {
            throw new StepsLedger.Broken(what);
        }
    }

    private SimulatedNode start() {
        return new SimulatedNode(time, database, () -> oneIn(40, "lost commit"), this::engine);
    }

    private Onlyonce engine(SqlStore itsStore, Onlyonce.Builder builder) {
        StepReconciler reconciler = new StepReconciler() {
            @Override
            public Finding reconcile(Entry unknown, String step, String downstreamKey) {
                if (oneIn(4, "nobody can tell")) {
                    return new Finding.CannotTell("the provider does not answer");
                }
                return ledger.find(unknown, step)
                        .<Finding>map(found -> new Finding.Found(found.getBytes(StandardCharsets.UTF_8)))
                        .orElseGet(() -> new Finding.Absent("not on the ledger"));
            }

            @Override
            public Duration absentAfter() {
                return Duration.ZERO;
            }
        };
        return builder.callMax(Duration.ZERO)
                .operation("keep", options -> options.reconciler(Steps.reconciler(itsStore, reconciler)))
                .operation(
                        "forget",
                        options -> options.retention(Duration.ofSeconds(40))
                                .reconciler(Steps.reconciler(itsStore, reconciler)))
                .sweepEvery(OFTEN)
                .reconcileEvery(OFTEN)
                .purgeEvery(Duration.ofSeconds(30))
                .build();
    }

    private void trouble() {
        restart();
        if (oneIn(5, "cut off")) {
            any().cutOff(upTo(LONG));
        }
        if (oneIn(3, "eviction")) {
            evict(KEYS.get(random.nextInt(KEYS.size())));
        }
        if (!healed) {
            time.schedule(upTo(OFTEN), this::trouble);
        }
    }

    private void restart() {
        nodes.replaceAll(node -> node.isDead() ? start() : node);
    }

    private void evict(Key key) {
        ledger.entry(key).ifPresent(entry -> {
            if (store.evict(key.entryId(), "operator", "simulated").isPresent()) {
                ledger.evicted(entry);
            }
        });
    }

    private SimulatedNode any() {
        return nodes.get(random.nextInt(nodes.size()));
    }

    private Duration upTo(Duration max) {
        return Duration.ofMillis(random.nextInt((int) max.toMillis()));
    }

    private boolean oneIn(int times, String what) {
        boolean now = !healed && random.nextInt(times) == 0;
        if (now) {
            happened.merge(what, 1, Integer::sum);
        }
        return now;
    }

    private void pass(Duration span) {
        depth++;
        time.advance(span);
        depth--;
        if (broken != null) {
            throw broken;
        }
    }

    private void send(Key key, int wanted) {
        SimulatedNode node = any();
        int left = wanted;
        if (depth <= DEPTH_MAX && !node.isDead() && !node.isSuspended() && isAnswered(node, key)) {
            left--;
        }
        int more = left;
        if (more > 0) {
            time.schedule(upTo(Duration.ofSeconds(healed ? 5 : 20)), () -> send(key, more));
        } else {
            waiting--;
        }
    }

    private boolean isAnswered(SimulatedNode node, Key key) {
        try {
            Outcome<String> outcome =
                    node.steps().execute(key, REQUEST, Codec.text(), runner -> new Payment(node, key).run(runner));
            happened.merge(outcome.getClass().getSimpleName(), 1, Integer::sum);
            if (outcome instanceof Outcome.Executed<String> executed) {
                ledger.answered(key, executed.value());
                return true;
            } else if (outcome instanceof Outcome.Replayed<String> replayed) {
                ledger.answered(key, replayed.value());
                return true;
            }
            return false;
        } catch (StepsLedger.Broken e) {
            broken = e;
            throw e;
        } catch (SimulatedNode.Crash | StoreException | NotExecuted | LeaseLost | Reset | SQLException e) {
            happened.merge(e.getClass().getSimpleName(), 1, Integer::sum);
            return false;
        }
    }

    /** What a flow throws when it does not know whether its effect happened. */
    private static final class Reset extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        Reset() {
            super("reset", null, false, false);
        }
    }

    /** One attempt of the flow. */
    private final class Payment {
        private final SimulatedNode node;
        private final Key key;
        private final UUID token;
        private final String name;
        private boolean booked;

        /** Nothing has happened since the claim was confirmed, so the entry is this owner's. */
        Payment(SimulatedNode node, Key key) {
            this.node = node;
            this.key = key;
            Entry entry = ledger.entry(key).orElseThrow();
            this.token = entry.token();
            this.name = StepsLedger.name(entry);
        }

        String run(StepRunner steps) throws SQLException {
            pause();
            String charged = steps.effect("charge", Codec.text(), downstreamKey -> effect("charge"));
            pause();
            steps.local("book", Codec.text(), this::book);
            if (booked) {
                ledger.requireOwner(key, token, "book");
            }
            pause();
            String sent = steps.effect("send", Codec.text(), downstreamKey -> effect("send"));
            pause();
            return charged + ", " + sent;
        }

        /** Between two steps: is slow or suspended, breaks, or dies. */
        private void pause() {
            if (oneIn(3, "pause")) {
                boolean suspended = !node.isSuspended() && !oneIn(4, "slow");
                if (suspended) {
                    node.suspend();
                }
                sleep(upTo(LONG));
                if (suspended) {
                    node.resume();
                }
                node.ensureAlive();
            }
            if (oneIn(15, "crash")) {
                node.crash();
            }
            if (oneIn(15, "broken flow")) {
                throw new Reset();
            }
        }

        /** Wakes up early if somebody else is in the middle of it: that is when an owner does the most harm. */
        private void sleep(Duration span) {
            for (long end = time.nanos() + span.toNanos(); time.nanos() < end; ) {
                pass(SLICE);
                Entry entry = ledger.entry(key).orElse(null);
                if (entry != null && entry.state() == State.PROCESSING && !token.equals(entry.token())) {
                    happened.merge("zombie", 1, Integer::sum);
                    return;
                }
            }
        }

        private String effect(String step) {
            if (oneIn(8, "refused")) {
                if (oneIn(2, "refused and cut off")) {
                    node.cutOff(upTo(LONG));
                }
                throw new NotExecuted("refused");
            }
            if (oneIn(15, "no effect, no answer")) {
                throw new Reset();
            }
            String result = ledger.effect(key, token, step);
            if (oneIn(8, "cut off after the effect")) {
                node.cutOff(upTo(LONG));
            }
            pause();
            return result;
        }

        private String book(Connection connection) throws SQLException {
            try (PreparedStatement insert = connection.prepareStatement("INSERT INTO booking VALUES (?)")) {
                insert.setString(1, name);
                insert.executeUpdate();
            }
            if (oneIn(15, "refused booking")) {
                throw new SQLException("refused", "23000", 19);
            }
            booked = true;
            return "booked";
        }
    }
}
