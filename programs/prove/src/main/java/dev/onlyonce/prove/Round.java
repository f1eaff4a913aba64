package dev.onlyonce.prove;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.prove.Seen.Asked;
import dev.onlyonce.prove.Seen.Effect;
import dev.onlyonce.prove.Seen.Evicted;
import dev.onlyonce.prove.Seen.Fault;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.StoreException;
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
     * @param calm whether only nodes fail, and neither networks nor the store
     */
    record Plan(String store, long seed, int nodes, int clients, Duration load, Plant plant, boolean calm) {}

    /** The figures of a round, and what is wrong. */
    record Result(
            Plan plan, History history, List<Checker.Violation> violations, Map<String, Long> figures, Path folder) {}

    private static final int EVICTIONS_EVERY_MILLIS = 100;
    /** In evictions. */
    private static final int CHECKED_EVERY = 10;

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
        try (Arena arena = arena();
                Ledger ledger = new Ledger(history, plan.seed + 2);
                Operating operating = new Operating(arena.directUrl());
                Load load = new Load(nodes, history, arena.isSql(), plan.seed + 3)) {
            for (int i = 0; i < plan.nodes; i++) {
                NodeProcess node = new NodeProcess("node-" + i, arena.url(i), ledger.port(), plan.plant, folder);
                nodes.add(node);
                node.start();
            }
            awaitUp(nodes);
            load.start(plan.clients);
            Nemesis nemesis = new Nemesis(history, nodes, plan.calm ? List.of() : arena.disasters(), plan.seed);
            nemesis.start();
            operate(operating, ledger, load, nodes);
            nemesis.stop(arena);
            load.stop();
            awaitUp(nodes);
            List<Checker.Violation> early =
                    plan.plant == Plant.NONE ? List.of() : new Checker(history, load.all(), Map.of()).checkSoFar();
            if (!early.isEmpty()) {
                return new Result(plan, history, early, figures(load, 0, 0), folder);
            }
            long ended = load.drain();
            Map<Work, List<AuditRecord>> audit = audit(operating, load);
            if (arena.isSql()) {
                readEffects(arena);
            }
            Checker checker = new Checker(history, load.all(), audit);
            List<Checker.Violation> violations = checker.check();
            return new Result(plan, history, violations, figures(load, checker.undone(), ended), folder);
        } finally {
            nodes.forEach(NodeProcess::close);
        }
    }

    private Arena arena() {
        return switch (plan.store) {
            case "postgres" -> new PostgresArena(plan.nodes, plan.seed);
            case "postgres-standby" -> new PairArena(plan.nodes, plan.seed);
            case "sqlite" -> new SqliteArena(folder);
            case "redis" -> new RedisArena(plan.nodes, plan.seed);
            default -> throw new IllegalArgumentException("no such store: " + plan.store);
        };
    }

    private static void awaitUp(List<NodeProcess> nodes) throws IOException {
        for (int i = 0; i < 600 && !nodes.stream().allMatch(NodeProcess::isUp); i++) {
            for (NodeProcess node : nodes) {
                node.look();
            }
            Pause.millis(100);
        }
    }

    /** An operator evicts while the load lasts; the store may be down. */
    private void operate(Operating store, Ledger ledger, Load load, List<NodeProcess> nodes) throws IOException {
        long end = System.nanoTime() + plan.load.toNanos();
        for (int turn = 1; System.nanoTime() - end < 0 && !(turn % CHECKED_EVERY == 0 && isRefuted(load)); turn++) {
            for (NodeProcess node : nodes) {
                node.look();
            }
            Optional<Item> item = load.evictable();
            if (item.isPresent() && evict(store, ledger, item.get().work)) {
                load.reopen(item.get());
            }
            Pause.millis(EVICTIONS_EVERY_MILLIS);
        }
    }

    /** Whether a planted fault has been found already. What tables tell is known only in the end. */
    private boolean isRefuted(Load load) {
        return plan.plant != Plant.NONE
                && !new Checker(history, load.all(), Map.of()).checkSoFar().isEmpty();
    }

    /** Returns whether the key may be used as new. */
    private boolean evict(Operating store, Ledger ledger, Work work) {
        long begun = System.nanoTime();
        boolean certain = true;
        try {
            if (!store.once().operator().evict(work.key(), "prover", "to see what follows")) {
                return false;
            }
            ledger.reverse(work, begun);
        } catch (RuntimeException e) {
            certain = false;
        }
        history.add(new Evicted(work, begun, System.nanoTime(), certain));
        return true;
    }

    /** The store for an operator, opened when it is needed first. */
    private static final class Operating implements AutoCloseable {
        private final StoreAccess access;
        private final Onlyonce once;

        Operating(String url) {
            access = StoreAccess.open(url);
            once = Onlyonce.builder(access.store())
                    .node("operator")
                    .sweepEvery(Duration.ofSeconds(1))
                    .build();
        }

        Onlyonce once() {
            return once;
        }

        @Override
        public void close() {
            once.close();
            access.close();
        }
    }

    private static Map<Work, List<AuditRecord>> audit(Operating store, Load load) {
        Map<Work, List<AuditRecord>> audit = new HashMap<>();
        load.all().forEach(item -> audit.put(item.work, history(store, item.work)));
        return audit;
    }

    private static List<AuditRecord> history(Operating store, Work work) {
        for (int i = 0; ; i++) {
            try {
                return store.once().operator().history(work.key());
            } catch (StoreException e) {
                if (i == 20) {
                    throw e;
                }
                Pause.millis(200);
            }
        }
    }

    /** The effects of transactions, from the application's own table. */
    private void readEffects(Arena arena) throws SQLException {
        try (Connection connection = DriverManager.getConnection(arena.directUrl());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT tenant, name, body, id, node FROM prove_effect")) {
            while (row.next()) {
                Work work = new Work(row.getString(1), Work.Way.TRANSACTIONAL, row.getString(2));
                history.add(
                        new Effect(work, "", row.getString(3), row.getString(4), row.getString(5), Checker.NO_TIME));
            }
        }
    }

    private Map<String, Long> figures(Load load, long undone, long ended) {
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
        figures.put(
                "faults",
                history.of(Fault.class).stream()
                        .filter(f -> !f.what().startsWith("over"))
                        .count());
        figures.put(
                "failovers",
                history.of(Fault.class).stream().filter(Fault::isFailover).count());
        figures.put("replays undone by a failover", undone);
        figures.put("ms until every key had ended", ended / 1_000_000);
        return figures;
    }
}
