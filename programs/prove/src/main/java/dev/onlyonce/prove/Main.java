package dev.onlyonce.prove;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs rounds until the time is over. */
@Command(
        name = "prove",
        description =
                "Tries to refute what Onlyonce promises: real processes, faults, and a check of what clients and a ledger saw.",
        mixinStandardHelpOptions = true)
public final class Main implements Callable<Integer> {
    private static final int VIOLATED = 1;
    private static final int BROKEN = 3;

    @Option(
            names = "--store",
            split = ",",
            paramLabel = "STORE",
            defaultValue = "postgres-standby",
            completionCandidates = Stores.class,
            description =
                    "Of ${COMPLETION-CANDIDATES}; several with commas run side by side. Default: ${DEFAULT-VALUE}")
    private List<String> stores = List.of();

    @Option(
            names = "--minutes",
            defaultValue = "2",
            description = "For how long rounds begin. Default: ${DEFAULT-VALUE}")
    private int minutes;

    @Option(names = "--seed", paramLabel = "N", description = "Of the first round. Default: any")
    private long seed = -1;

    @Option(
            names = "--round",
            paramLabel = "SECONDS",
            defaultValue = "25",
            description = "How long faults happen in a round. Default: ${DEFAULT-VALUE}")
    private int roundSeconds;

    @Option(
            names = "--nodes",
            paramLabel = "N",
            defaultValue = "3",
            description = "Processes. Default: ${DEFAULT-VALUE}")
    private int nodes;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "12",
            description = "Clients. Default: ${DEFAULT-VALUE}")
    private int clients;

    @Option(
            names = "--plant",
            paramLabel = "FAULT",
            defaultValue = "none",
            description = "A fault that nodes get: no-token, settled-after-sweep, stale-cache, late-fingerprint,"
                    + " read-as-acknowledgement or released-on-exception.")
    private String plant = "none";

    @Option(
            names = "--focus",
            defaultValue = "ALL",
            description = "What fails: ALL, PAUSES of nodes alone, or FAILOVERS. Default: ${DEFAULT-VALUE}")
    private Focus focus = Focus.ALL;

    @Option(
            names = "--gap",
            paramLabel = "MILLIS",
            defaultValue = "" + Round.Aim.GAP_MILLIS,
            description = "The longest pause between two faults. Longer ones cost less. Default: ${DEFAULT-VALUE}")
    private int gapMillis;

    @Option(
            names = "--pace",
            paramLabel = "N",
            description =
                    "Makes leases, pauses and all other times of rounds N times as long. Default: as slow as this machine is, 1 to "
                            + Timing.PACE_MAX)
    private int pace;

    @Option(names = "--report", paramLabel = "DIR", description = "Where reports go. Default: a temporary folder")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"), "onlyonce-prove");

    @Option(
            names = "--gateways",
            paramLabel = "N",
            defaultValue = "1",
            description = "Gateways before a service that knows nothing of keys. Default: ${DEFAULT-VALUE}")
    private int gateways;

    @Option(
            names = "--other-build",
            paramLabel = "CLASSPATH",
            defaultValue = "",
            description = "Of another build of this module: nodes change between both when they start again.")
    private String otherBuild = "";

    @Option(
            names = "--checklist",
            description = "Checks what the checklists of the field ask for, item by item, instead of rounds.")
    private boolean checklist;

    @Option(
            names = "--scale",
            paramLabel = "KEYS",
            description = "Measures what this number of live keys costs on PostgreSQL, instead of rounds.")
    private long scale;

    @Option(
            names = "--soak",
            description = "Runs two gateways for --minutes and prints each minute what they hold, instead of rounds.")
    private boolean soak;

    private static final class Stores implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Arenas.ALL.keySet().iterator();
        }
    }

    private final Random random = new Random();
    private final Map<String, Map<String, Long>> totals = new TreeMap<>();
    private final Map<String, Integer> rounds = new TreeMap<>();
    private int violations;
    private int broken;

    private Main() {}

    public static void main(String[] arguments) {
        System.setProperty("logback.configurationFile", "prove-logback.xml");
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        if (checklist) {
            return check();
        }
        if (soak) {
            new Soak(Duration.ofMinutes(minutes), System.out::println).run(Files.createTempDirectory("onlyonce-soak"));
            return 0;
        }
        if (scale > 0) {
            new Scale(scale, System.out::println).run();
            return 0;
        }
        int times = pace > 0 ? pace : measured();
        System.setProperty(Timing.PACE, String.valueOf(times));
        System.out.println("times are " + times + " times as long as on an idle machine");
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<?>> running = new ArrayList<>();
        for (String store : stores) {
            running.add(threads.submit(() -> prove(store)));
        }
        for (Future<?> each : running) {
            each.get();
        }
        threads.shutdown();
        totals.forEach((store, total) ->
                System.out.println(store + ", " + rounds.get(store) + " rounds: " + Report.figures(total)));
        System.out.println("violations " + violations + ", broken rounds " + broken);
        return violations > 0 ? VIOLATED : broken > 0 ? BROKEN : 0;
    }

    /** How slow this machine is now: how long it takes to get a little of a processor's time, halved, from 1 to {@value Timing#PACE_MAX}. */
    private static int measured() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long begun = System.nanoTime();
        long used = threads.getCurrentThreadCpuTime();
        long wanted = used + Duration.ofMillis(200).toNanos();
        while (used < wanted) {
            used = threads.getCurrentThreadCpuTime();
        }
        long times = (System.nanoTime() - begun) / Duration.ofMillis(400).toNanos();
        return (int) Math.max(1, Math.min(Timing.PACE_MAX, times));
    }

    private Integer check() throws IOException {
        List<Checklist.Result> results = Checklist.run(
                Files.createTempDirectory("onlyonce-checklist"),
                result -> System.out.printf(
                        "%s  %s%n      %s%n",
                        result.passed() ? "pass" : "FAIL", result.item().title(), result.evidence()));
        long passed = results.stream().filter(Checklist.Result::passed).count();
        System.out.println(passed + " of " + results.size() + " passed");
        return passed == results.size() ? 0 : VIOLATED;
    }

    /** Rounds on one store, one after the other; other stores run beside it. */
    private @Nullable Void prove(String store) throws Exception {
        long end = System.nanoTime() + Duration.ofMinutes(minutes).toNanos();
        long next = seed < 0 ? random.nextInt(1_000_000) : seed;
        do {
            Round.Plan plan = new Round.Plan(
                    store,
                    next++,
                    Duration.ofSeconds(roundSeconds),
                    new Round.Crew(nodes, gateways, clients, otherBuild),
                    new Round.Aim(Plant.of(plant), focus, gapMillis));
            Path reports = Files.createDirectories(folder.resolve(store + "-" + plan.seed()));
            try {
                told(new Round(plan, reports).run());
            } catch (IOException | SQLException | RuntimeException e) {
                broke(plan, e);
            }
        } while (System.nanoTime() - end < 0);
        return null;
    }

    /** The prover itself failed, or a server that did not start. */
    private synchronized void broke(Round.Plan plan, Exception why) {
        System.out.println(plan.store() + ", seed " + plan.seed() + "\n  THE ROUND BROKE, and proves nothing");
        why.printStackTrace(System.out);
        broken++;
    }

    private synchronized void told(Round.Result result) {
        Report.text(result).forEach(System.out::println);
        System.out.println("  " + Report.write(result));
        String store = result.plan().store();
        Map<String, Long> total = totals.computeIfAbsent(store, s -> new LinkedHashMap<>());
        result.figures()
                .forEach((name, value) -> total.merge(name, value, name.startsWith("ms") ? Math::max : Long::sum));
        violations += result.violations().size();
        rounds.merge(store, 1, Integer::sum);
    }
}
