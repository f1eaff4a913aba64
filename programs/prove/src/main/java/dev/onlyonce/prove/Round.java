package dev.onlyonce.prove;

import dev.onlyonce.prove.Seen.Asked;
import dev.onlyonce.prove.Seen.Effect;
import dev.onlyonce.prove.Seen.Evicted;
import dev.onlyonce.prove.Seen.Fault;
import dev.onlyonce.store.AuditRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * One round of a proof.
 *
 * <ol>
 *   <li>Nodes start on a fresh store, and clients begin.
 *   <li>The nemesis acts, and an operator evicts.
 *   <li>Everything is healed. Every key must end in time, and every answer must still be known.
 *   <li>The histories of clients and ledger are checked.
 * </ol>
 */
final class Round {
    /**
     * @param seed decides about everything that chance decides here
     * @param load how long faults happen
     */
    record Plan(String store, long seed, Duration load, Crew crew, Aim aim) {}

    /**
     * Who takes part.
     *
     * @param nodes processes that embed the library
     * @param gateways processes of the gateway, before a service that knows nothing of keys
     * @param otherBuild the class path of another build; nodes change between both when they start again. Empty for none
     */
    record Crew(int nodes, int gateways, int clients, String otherBuild) {}

    /**
     * A planted fault, what the nemesis acts on, and how often.
     *
     * @param gapMillisMax the longest pause between two faults of one kind
     */
    record Aim(Plant plant, Focus focus, int gapMillisMax) {
        static final int GAP_MILLIS = 1_500;

        Aim(Plant plant, Focus focus) {
            this(plant, focus, GAP_MILLIS);
        }
    }

    /** The figures of a round, and what is wrong. */
    record Result(
            Plan plan, History history, List<Checker.Violation> violations, Map<String, Long> figures, Path folder) {}

    private static final int EVICTIONS_EVERY_MILLIS = 100;
    /** In evictions. */
    private static final int RESOLVES_EVERY = 5;

    private static final int CHECKED_EVERY = 10;
    private static final int SEEN_SECONDS_MAX = 15;
    /** With the pause of a gateway and a slow answer, shorter than {@link Timing#PROXIED_CALL_MAX}. */
    private static final int LEDGER_MILLIS_MAX = 1_500;

    private final Plan plan;
    private final Path folder;
    private final History history = new History();

    Round(Plan plan, Path folder) {
        this.plan = plan;
        this.folder = folder;
    }

    Result run() throws IOException, InterruptedException, SQLException {
        Files.createDirectories(folder);
        List<NodeProcess> nodes = new ArrayList<>();
        try (Arena arena = Arenas.open(
                        plan.store,
                        new Arena.Setting(Math.max(plan.crew.nodes, plan.crew.gateways), plan.seed, folder));
                Ledger ledger = new Ledger(history, plan.seed + 2);
                Networks toLedger = Networks.toPort(
                        "the ledger", ledger.port(), plan.crew.nodes + plan.crew.gateways, new Random(plan.seed + 4));
                Operating operating = new Operating(arena.directUrl(), ledger, history);
                Load load = new Load(nodes, history, ways(arena), plan.seed)) {
            for (int i = 0; i < plan.crew.nodes; i++) {
                NodeProgram program =
                        NodeProgram.of("node-" + i, arena.url(i), toLedger.port(i), plan.aim.plant, folder);
                nodes.add(new NodeProcess("node-" + i, program, builds(), folder));
            }
            for (int i = 0; i < plan.crew.gateways; i++) {
                GatewayProgram program =
                        GatewayProgram.of("gateway-" + i, arena.url(i), toLedger.port(plan.crew.nodes + i), folder);
                nodes.add(new NodeProcess("gateway-" + i, program, List.of(NodeProcess.build()), folder));
            }
            for (NodeProcess node : nodes) {
                node.start();
            }
            awaitUp(nodes);
            load.start(plan.crew.clients);
            Nemesis nemesis = new Nemesis(
                    history, nodes, List.of(arena.disasters(), toLedger.disasters(LEDGER_MILLIS_MAX)), plan);
            nemesis.start();
            operate(operating, load, nodes);
            nemesis.stop(() -> {
                toLedger.heal();
                arena.heal();
            });
            awaitRefuted(load);
            load.stop();
            awaitUp(nodes);
            List<Checker.Violation> early =
                    plan.aim.plant == Plant.NONE ? List.of() : new Checker(history, load.all(), Map.of()).checkSoFar();
            if (!early.isEmpty() || plan.aim.plant.isHealed()) {
                return new Result(plan, history, early, figures(load, operating, 0, 0), folder);
            }
            Load.Drained drained = load.drain(plan.crew.clients);
            Map<Work, List<AuditRecord>> audit = new HashMap<>();
            load.all().stream()
                    .filter(item -> item.work.way() != Work.Way.CONSUMED)
                    .forEach(item -> audit.put(item.work, operating.audit(item.work)));
            if (arena.isSql()) {
                readEffects(arena);
            }
            Checker checker = new Checker(history, load.all(), audit);
            List<Checker.Violation> violations = new ArrayList<>(checker.check());
            violations.addAll(drained.silent());
            Map<String, Long> figures = figures(load, operating, checker.undone(), drained.nanos());
            figures.put("keys taken by another request after a failover", checker.taken());
            if (arena.mayForget()) {
                figures.put(
                        "keys that the store forgot",
                        violations.stream()
                                .map(Checker.Violation::work)
                                .distinct()
                                .count());
                violations = List.of();
            }
            return new Result(plan, history, violations, figures, folder);
        } finally {
            nodes.forEach(NodeProcess::close);
        }
    }

    private List<Work.Way> ways(Arena arena) {
        List<Work.Way> ways = new ArrayList<>(List.of(Work.Way.LEASED));
        // What a failover forgets is about leases: all clients do that, and one round is enough.
        if (arena.isSql() && plan.aim.focus != Focus.FAILOVERS) {
            ways.addAll(List.of(Work.Way.TRANSACTIONAL, Work.Way.STEPPED, Work.Way.QUEUED, Work.Way.CONSUMED));
        }
        if (plan.crew.gateways > 0) {
            ways.add(Work.Way.PROXIED);
        }
        return ways;
    }

    /** This one, and one to upgrade from or to. */
    private List<String> builds() {
        return plan.crew.otherBuild.isEmpty()
                ? List.of(NodeProcess.build())
                : List.of(plan.crew.otherBuild, NodeProcess.build());
    }

    private static void awaitUp(List<NodeProcess> nodes) throws IOException {
        long begun = System.nanoTime();
        while (!nodes.stream().allMatch(NodeProcess::isUp)) {
            for (NodeProcess node : nodes) {
                node.look();
            }
            if (System.nanoTime() - begun > Timing.UP_MAX.toNanos()) {
                throw new IllegalStateException("not up in " + Timing.UP_MAX + ": "
                        + nodes.stream()
                                .filter(node -> !node.isUp())
                                .map(NodeProcess::name)
                                .toList());
            }
            Pause.millis(100);
        }
    }

    /** An operator evicts and resolves while the load lasts. */
    private void operate(Operating store, Load load, List<NodeProcess> nodes) throws IOException {
        long end = System.nanoTime() + plan.load.toNanos();
        for (int turn = 1; System.nanoTime() - end < 0 && !(turn % CHECKED_EVERY == 0 && isRefuted(load)); turn++) {
            for (NodeProcess node : nodes) {
                node.look();
            }
            Optional<Item> item = load.evictable();
            if (item.isPresent() && store.evict(item.get().work)) {
                load.reopen(item.get());
            }
            if (turn % RESOLVES_EVERY == 0 && !plan.aim.plant.isHealed()) {
                load.unknown().ifPresent(unknown -> store.resolve(unknown.work));
            }
            Pause.millis(EVICTIONS_EVERY_MILLIS);
        }
    }

    /** Gives clients the time to see what a failover has lost, if nobody heals that. */
    private void awaitRefuted(Load load) {
        for (int i = 0; plan.aim.plant.isHealed() && i < SEEN_SECONDS_MAX && !isRefuted(load); i++) {
            Pause.millis(1_000);
        }
    }

    /** Whether a planted fault has been found already. What tables tell is known only in the end. */
    private boolean isRefuted(Load load) {
        return plan.aim.plant != Plant.NONE
                && !new Checker(history, load.all(), Map.of()).checkSoFar().isEmpty();
    }

    /** The effects of transactions and messages, from the application's own table. */
    private void readEffects(Arena arena) throws SQLException {
        try (Connection connection = DriverManager.getConnection(arena.directUrl());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT tenant, way, name, body, id, node FROM prove_effect")) {
            while (row.next()) {
                Work work = new Work(row.getString(1), Work.Way.valueOf(row.getString(2)), row.getString(3));
                history.add(
                        new Effect(work, "", row.getString(4), row.getString(5), row.getString(6), Checker.NO_TIME));
            }
        }
    }

    private Map<String, Long> figures(Load load, Operating operating, long undone, long ended) {
        Map<String, Long> figures = new LinkedHashMap<>();
        List<Asked> asked = history.of(Asked.class);
        figures.put("keys", (long) load.all().size());
        figures.put("requests", (long) asked.size());
        figures.put("answered", asked.stream().filter(Asked::isAnswered).count());
        figures.put("replays", asked.stream().filter(Asked::replayed).count());
        figures.put(
                "without an answer", asked.stream().filter(a -> a.status() == 0).count());
        figures.put(
                "refused: store", asked.stream().filter(a -> a.status() == 503).count());
        figures.put(
                "outcome unknown",
                asked.stream().filter(a -> a.answer().equals("outcome_unknown")).count());
        figures.put("misuses", asked.stream().filter(Asked::isMisuse).count());
        figures.put("effects", (long) history.of(Effect.class).size());
        figures.put("evictions", (long) history.of(Evicted.class).size());
        figures.put("resolved by hand", (long) operating.resolved());
        figures.put(
                "faults",
                history.of(Fault.class).stream()
                        .filter(f -> !f.what().startsWith("over"))
                        .count());
        figures.put(
                "failovers",
                history.of(Fault.class).stream().filter(Fault::isFailover).count());
        figures.put(
                "keys that a busy machine left undecided",
                load.all().stream().filter(Item::isUndecided).count());
        figures.put("replays undone by a failover", undone);
        figures.put("ms until every key had ended", ended / 1_000_000);
        return figures;
    }
}
