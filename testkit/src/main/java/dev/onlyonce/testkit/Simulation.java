package dev.onlyonce.testkit;

import dev.onlyonce.FailureRule;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.Reconciler;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Several nodes with the real engine, customers that repeat their requests, a reconciler, and everything that goes wrong:
 * crashes, restarts, lost and late calls and answers, cut-off nodes, wrong clocks, actions that outlive their lease, locked
 * rows, interrupted callers, Errors, outages of the store, evictions. All of it on one thread, steered by a seed, so that the same seed gives the same run.
 *
 * <p>After every step this must hold: an effect happens only under a live claim of the same request; it happens once,
 * unless the operation declares repeating it harmless; nobody is answered with anything but the recorded result of that
 * effect, everybody with the same; no answer leaves before its record; entries change only as {@link State} allows. And
 * when the trouble is over, every customer is answered and no key is stuck.
 *
 * <p>A failure names its seed and shows what happened. {@code -Donlyonce.seed=N} runs that seed alone.
 */
public final class Simulation {
    /** The property that says which seed to run. */
    public static final String SEED = "onlyonce.seed";

    private static final int NODES = 3;
    private static final Duration TROUBLE = Duration.ofMinutes(4);
    /** More than a lease, a sweep, and the reconciler's longest pause. */
    private static final Duration PATIENCE = Duration.ofMinutes(15);

    private static final Duration OFTEN = Duration.ofSeconds(10);

    private final Function<Time, Store> store;
    private final FailureRule failures;
    private final Set<Trouble> troubles;

    private Simulation(Function<Time, Store> store, FailureRule failures, Set<Trouble> troubles) {
        this.store = store;
        this.failures = failures;
        this.troubles = troubles;
    }

    /** On new stores, made by the function; they must follow the time they are given. */
    public static Simulation on(Function<Time, Store> store) {
        return new Simulation(store, FailureRule.standard(), EnumSet.allOf(Trouble.class));
    }

    /** The same with another rule for what exceptions prove. */
    public Simulation failures(FailureRule failures) {
        return new Simulation(store, failures, troubles);
    }

    /** With one kind of trouble alone, and what only holds then: it costs nobody anything whom it does not concern. */
    Simulation only(Trouble trouble) {
        return new Simulation(store, failures, EnumSet.of(trouble));
    }

    /**
     * Runs this many seeds from the first on; only the one in the property, if that is set.
     *
     * @throws AssertionError at the first seed that breaks a rule
     */
    public void run(long first, int seeds) {
        Long only = Long.getLong(SEED);
        if (only != null) {
            run(only);
            return;
        }
        for (long seed = first; seed < first + seeds; seed++) {
            run(seed);
        }
    }

    /** Runs one seed; throws {@link AssertionError} with its trace if it breaks a rule. */
    public void run(long seed) {
        if (failure(seed, false).failure() == null) {
            return;
        }
        Trace traced = failure(seed, true);
        throw new AssertionError(
                "Seed " + seed + ": " + traced.failure() + "\nRun it alone with -D" + SEED + "=" + seed + "\n"
                        + String.join("\n", traced.lines()),
                traced.failure());
    }

    /** What happened with this seed, line by line; the same every time. */
    List<String> trace(long seed) {
        return failure(seed, true).lines();
    }

    private record Trace(@Nullable Throwable failure, List<String> lines) {}

    private Trace failure(long seed, boolean traced) {
        World world = new World(seed, traced, troubles);
        try {
            new Run(world).play();
            return new Trace(null, world.trace());
        } catch (AssertionError | RuntimeException e) {
            return new Trace(e, world.trace());
        }
    }

    /** One seed's world and its inhabitants. */
    private final class Run {
        private final World world;
        private final Witness witness;
        private final HeldRows rows;
        private final Ledger ledger;
        private final Set<Key> held = new HashSet<>();
        private final List<Machine> machines = new ArrayList<>();
        private final List<Customer> customers = new ArrayList<>();
        private List<Key> keys = List.of();

        Run(World world) {
            this.world = world;
            this.witness = new Witness(world, store.apply(new StoreTime(world)));
            this.rows = new HeldRows(witness);
            this.ledger = new Ledger(world, witness);
        }

        void play() {
            // One node after an outage: another's sweep may be faster than what this one knows.
            for (int i = 0; i < (world.hasOnly(Trouble.OUTAGES) ? 1 : NODES); i++) {
                machines.add(start("node-" + i));
            }
            keys = List.of(
                    Key.of("acme", "pay", "paid-1"),
                    Key.of("acme", "pay", "paid-2"),
                    Key.of("acme", "wait", "awaited"),
                    Key.of("acme", "repeat", "repeated"),
                    Key.of("acme", "forget", "forgotten"));
            for (int i = 0; i < 7; i++) {
                Key key = keys.get(world.pick(keys.size()));
                String body = world.pick(5) == 0 ? "body-2" : "body-1";
                Customer customer = new Customer(world, ledger, this::any, "cust-" + i, key, body)
                        .unless(this::explains, this::outage);
                customers.add(customer);
                customer.sendWithin(Duration.ofSeconds(90));
            }
            world.after(OFTEN, this::trouble);
            world.pass(TROUBLE);
            world.heal();
            rows.letAllGo();
            restart();
            world.pass(PATIENCE, () -> customers.stream().allMatch(Customer::isDone));
            // What a customer left behind when it got no answer is ended without one.
            world.pass(PATIENCE, () -> stuck().isEmpty());
            expect(customers.stream().filter(c -> !c.isDone()).toList(), "customers without an answer");
            expect(stuck(), "stuck entries");
            world.pass(PATIENCE, () -> forgotten().isEmpty());
            expect(forgotten(), "D12 machines that hold claims which nobody settles");
        }

        private void expect(List<?> none, String what) {
            if (!none.isEmpty()) {
                throw new AssertionError(what + ": " + none);
            }
        }

        private List<Snapshot> stuck() {
            return witness.entries().values().stream()
                    .filter(entry -> entry.state() == State.PROCESSING || entry.state() == State.UNKNOWN)
                    .toList();
        }

        private List<String> forgotten() {
            return machines.stream()
                    .filter(machine -> !machine.isDead() && machine.once().liveClaims() > 0)
                    .map(Machine::name)
                    .toList();
        }

        private Machine any() {
            return machines.get(world.pick(machines.size()));
        }

        private void trouble() {
            restart();
            if (world.oneIn(8, Trouble.FAILURES)) {
                any().cutOff(world.upTo(Duration.ofSeconds(90)));
            }
            if (world.oneIn(6, Trouble.LOCKED_ROWS)) {
                holdRow();
            }
            if (world.oneIn(12, Trouble.OUTAGES)) {
                outage();
            }
            if (world.oneIn(6, Trouble.EVICTIONS)) {
                evict();
            }
            if (world.oneIn(8, Trouble.FAILURES)) {
                any().setClockWrong(world.upTo(Duration.ofDays(10)).minus(Duration.ofDays(5)));
            }
            if (!world.isHealed()) {
                world.after(world.upTo(OFTEN), this::trouble);
            }
        }

        private void holdRow() {
            Key key = keys.get(world.pick(keys.size()));
            boolean told = world.pick(2) == 0;
            world.note("world", "holds " + key.value() + (told ? "" : ", and the store cannot tell"));
            held.add(key);
            if (told) {
                rows.skip(key.entryId());
            } else {
                rows.lock(key.entryId());
            }
            world.after(world.upTo(Duration.ofSeconds(60)), () -> rows.letGo(key.entryId()));
        }

        private void outage() {
            Duration span = Duration.ofSeconds(40).plus(world.upTo(Duration.ofSeconds(80)));
            machines.forEach(machine -> machine.cutOff(span));
        }

        private void evict() {
            Key key = keys.get(world.pick(keys.size()));
            Machine machine = any();
            try {
                if (!machine.isDead() && machine.once().operator().evict(key, "an operator", "simulated")) {
                    world.note("world", "evicted " + key.value());
                }
            } catch (StoreException | Crash | StackOverflowError e) {
                world.note("world", "could not evict " + key.value());
            }
        }

        /** Whether the trouble of this world explains what went wrong for a customer of this key. */
        private boolean explains(Key key) {
            return !world.hasOnly(Trouble.INTERRUPTS) && (!world.hasOnly(Trouble.LOCKED_ROWS) || held.contains(key));
        }

        private void restart() {
            machines.replaceAll(machine -> machine.isDead() ? start(machine.name()) : machine);
        }

        private Machine start(String name) {
            return new Machine(world, name, rows, this::engine);
        }

        private Onlyonce engine(Onlyonce.Builder builder) {
            Policy policy =
                    Policy.builder().failures(failures).callMax(Duration.ZERO).build();
            Map<String, Policy> policies = Map.of(
                    "pay", policy,
                    "wait", policy.toBuilder().waitMax(Duration.ofSeconds(20)).build(),
                    "repeat", policy.toBuilder().onLeaseLost(OnLeaseLost.RETRY).build(),
                    "forget",
                            policy.toBuilder()
                                    .retention(Duration.ofSeconds(40))
                                    .tombstone(Duration.ofSeconds(20))
                                    .build());
            policies.forEach(
                    (operation, its) -> builder.operation(operation, its).reconciler(operation, reconciler()));
            return builder.sweepEvery(OFTEN)
                    .reconcileEvery(OFTEN)
                    .purgeEvery(Duration.ofSeconds(30))
                    .build();
        }

        private Reconciler reconciler() {
            return new Reconciler() {
                @Override
                public Finding reconcile(Entry unknown) {
                    if (world.chance("reconcile " + unknown.id().key()).nextInt(4) == 0 && !world.isHealed()) {
                        return new Finding.CannotTell("the provider does not answer");
                    }
                    return ledger.found(unknown)
                            .<Finding>map(result -> new Finding.Found(Requests.bytes(result)))
                            .orElseGet(() -> new Finding.Absent("not on the ledger"));
                }

                /** No call is on its way: an effect is made while the lease holds, or not at all. */
                @Override
                public Duration absentAfter() {
                    return Duration.ZERO;
                }
            };
        }
    }

    /** The store's own clock, which is right. */
    record StoreTime(World world) implements Time {
        @Override
        public Instant now() {
            return world.now();
        }

        @Override
        public long nanos() {
            return world.nanos();
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            world.after(delay, task);
            return () -> {};
        }

        @Override
        public boolean await(CompletableFuture<?> signal, Duration max) {
            world.pass(max, signal::isDone);
            return signal.isDone();
        }

        @Override
        public void close() {}
    }
}
