package dev.onlyonce.benchmarks;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Runs the benchmarks that the command line names and writes their tables as Markdown. */
public final class Main {
    private Main() {}

    /** See {@link Options#USAGE}. */
    public static void main(String[] args) throws Exception {
        PrintStream screen = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        if (isChild(screen, args)) {
            return;
        }
        if (args.length == 1 && "--chart".equals(args[0])) {
            Charts.write(Path.of(""));
            return;
        }
        Options options;
        try {
            options = Options.parse(args);
        } catch (IllegalArgumentException e) {
            screen.println(e.getMessage());
            screen.println(Options.USAGE);
            System.exit(2);
            return;
        }
        Path folder = options.out().toAbsolutePath().getParent();
        if (folder != null) {
            Files.createDirectories(folder);
        }
        try (PrintStream file = new PrintStream(Files.newOutputStream(options.out()), true, StandardCharsets.UTF_8);
                Databases databases = new Databases()) {
            Report report = new Report(screen, file);
            report.line(
                    "JDK %s, %d cores, %s %s; turns of %.1f s, %d each, taken alternately.",
                    Runtime.version(),
                    Runtime.getRuntime().availableProcessors(),
                    System.getProperty("os.name"),
                    System.getProperty("os.arch"),
                    options.round().toMillis() / 1000.0,
                    options.rounds());
            for (String benchmark : options.benchmarks()) {
                run(benchmark.toLowerCase(Locale.ROOT), options, databases, report);
            }
        }
    }

    /** Whether this process was started by another one, and has done what that wanted. */
    private static boolean isChild(PrintStream out, String... args) throws Exception {
        switch (args.length == 0 ? "" : args[0]) {
            case Memory.CHILD -> out.println(Memory.measure());
            case RequestLoad.CHILD -> RequestLoad.serve(out);
            case VertxService.CHILD -> VertxService.serve(out);
            case StatementProxy.CHILD -> StatementProxy.serve(args, out);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void run(String benchmark, Options options, Databases databases, Report report) throws Exception {
        switch (benchmark) {
            case "fresh" -> new Fresh(options, databases, report).run();
            case "cassandra" -> new CassandraSpeed(options, report).run();
            case "anatomy" -> new Anatomy(options, databases, report).run();
            case "lookup" -> new Lookup(options, databases, report).run();
            case "redis" -> new RedisSpeed(options, databases, report).run();
            case "replay" -> new Replay(options, report).run();
            case "fingerprint" -> new FingerprintCost(options, report).run();
            case "http" -> new Http(options, databases, report).run();
            case "size" -> new Size(options, databases, report).run();
            case "outbox" -> new Deliveries(options, databases, report).run();
            case "kafka" -> new Consumption(options, databases, report).run();
            case "purge" -> new Purge(options, databases, report).run();
            case "gateway" -> new GatewaySpeed(options, databases, report).run();
            case "gateway-memory" -> new GatewayMemory(options.gateway(), report).run();
            case "memory" -> new Memory(report).run();
            default -> throw new IllegalArgumentException(benchmark + " is not a benchmark\n" + Options.USAGE);
        }
    }
}
