package dev.onlyonce.prove;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
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

    @Option(
            names = "--store",
            split = ",",
            paramLabel = "STORE",
            defaultValue = "postgres-standby",
            description = "postgres, postgres-standby, sqlite or redis; several with commas. Default: ${DEFAULT-VALUE}")
    private List<String> stores = List.of();

    @Option(
            names = "--minutes",
            defaultValue = "2",
            description = "For how long rounds begin. Default: ${DEFAULT-VALUE}")
    private int minutes;

    @Option(names = "--seed", paramLabel = "N", description = "Of the first round. Default: any")
    private long seed = new Random().nextInt(1_000_000);

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

    @Option(names = "--calm", description = "Only nodes fail: neither networks nor the store.")
    private boolean calm;

    @Option(names = "--report", paramLabel = "DIR", description = "Where reports go. Default: a temporary folder")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"), "onlyonce-prove");

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        long end = System.nanoTime() + Duration.ofMinutes(minutes).toNanos();
        Map<String, Long> total = new LinkedHashMap<>();
        int rounds = 0;
        int violations = 0;
        do {
            String store = stores.get(rounds % stores.size());
            Round.Plan plan = new Round.Plan(
                    store, seed + rounds, nodes, clients, Duration.ofSeconds(roundSeconds), Plant.of(plant), calm);
            Path reports = Files.createDirectories(folder.resolve(store + "-" + plan.seed()));
            Round.Result result = new Round(plan, reports).run();
            Report.text(result).forEach(System.out::println);
            System.out.println("  " + Report.write(result));
            result.figures()
                    .forEach((name, value) -> total.merge(name, value, name.startsWith("ms") ? Math::max : Long::sum));
            violations += result.violations().size();
            rounds++;
        } while (System.nanoTime() - end < 0);
        System.out.println(rounds + " rounds: " + Report.figures(total) + ", violations " + violations);
        return violations == 0 ? 0 : VIOLATED;
    }
}
