package dev.onlyonce.benchmarks;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;

/**
 * What the command line says.
 *
 * @param round how long each contender runs before the next one has its turn
 * @param rounds how many turns each has
 * @param warmUp how long each contender runs on each database before anything counts
 * @param contenders of 'http'
 * @param rows how many rows the large table has
 * @param out where the tables go
 * @param nginx where nginx is; the empty string for the one on the path
 * @param gateway how the gateway runs
 */
record Options(
        List<String> benchmarks,
        Duration round,
        int rounds,
        Duration warmUp,
        List<Integer> callers,
        List<Databases.Kind> databases,
        List<HttpContender> contenders,
        int rows,
        Path out,
        String nginx,
        Gateway gateway) {
    /**
     * How the gateway runs.
     *
     * @param java more options for its JVM, to look into it
     * @param ioUring whether it serves its sockets by that
     */
    record Gateway(String java, boolean ioUring) {}

    static final List<String> ALL = List.of(
            "fresh",
            "anatomy",
            "lookup",
            "redis",
            "replay",
            "fingerprint",
            "memory",
            "outbox",
            "kafka",
            "purge",
            "http",
            "gateway",
            "gateway-memory");
    static final String USAGE = """
            usage: testing/benchmarks/run [fresh|anatomy|lookup|redis|replay|fingerprint|memory|outbox|kafka|purge|http|gateway|gateway-memory|size|cassandra|all]...
                [--seconds 2]      each contender's turn
                [--rounds 3]       turns of each contender, taken alternately
                [--warm-up 5]      seconds that each contender runs on each database before anything counts, up to four times, until
                                   the compiler has little left to do
                [--callers 1,16,64,256]   of 'fresh', 'anatomy', 'redis' and 'http'
                [--databases postgresql,mariadb,sqlite]
                [--contenders bare,leased,leased_by_hand,transactional,transactional_by_hand]   of 'http'
                [--rows 5000000]   of the large table of 'size', which 'all' leaves out because loading takes minutes
                                   ('cassandra', three nodes, is left out too)
                [--nginx PATH]     of 'gateway'; default the one on the path
                [--gateway-java OPTIONS]  of 'gateway': for its JVM, separated by blanks
                [--io-uring false] of 'gateway' and 'gateway-memory': whether it serves its sockets by that
                [--out FILE]       default testing/benchmarks/target/benchmarks.md
            or: testing/benchmarks/run --chart, which draws the tables of docs/internals/performance.md again""";

    static Options parse(String... args) {
        List<String> benchmarks = new ArrayList<>();
        Duration round = Duration.ofSeconds(2);
        int rounds = 3;
        Duration warmUp = Duration.ofSeconds(5);
        List<Integer> callers = List.of(1, 16, 64, 256);
        List<Databases.Kind> databases = List.of(Databases.Kind.values());
        List<HttpContender> contenders = List.of(HttpContender.values());
        int rows = 5_000_000;
        Path out = Path.of("testing", "benchmarks", "target", "benchmarks.md");
        String nginx = "";
        String gatewayJava = "";
        boolean ioUring = false;
        Iterator<String> words = Arrays.asList(args).iterator();
        while (words.hasNext()) {
            String word = words.next();
            if (!word.startsWith("--")) {
                benchmarks.addAll("all".equals(word) ? ALL : List.of(word));
                continue;
            }
            if (!words.hasNext()) {
                throw new IllegalArgumentException("--help".equals(word) ? "" : word + " needs a value");
            }
            String value = words.next();
            switch (word) {
                case "--seconds" -> round = seconds(value);
                case "--warm-up" -> warmUp = seconds(value);
                case "--rounds" -> rounds = Integer.parseInt(value);
                case "--callers" ->
                    callers = Arrays.stream(value.split(","))
                            .map(Integer::valueOf)
                            .toList();
                case "--databases" ->
                    databases = Arrays.stream(value.split(","))
                            .map(name -> Databases.Kind.valueOf(name.toUpperCase(Locale.ROOT)))
                            .toList();
                case "--contenders" ->
                    contenders = Arrays.stream(value.split(","))
                            .map(name -> HttpContender.valueOf(name.toUpperCase(Locale.ROOT)))
                            .toList();
                case "--rows" -> rows = Integer.parseInt(value);
                case "--nginx" -> nginx = value;
                case "--gateway-java" -> gatewayJava = value;
                case "--io-uring" -> ioUring = Boolean.parseBoolean(value);
                case "--out" -> out = Path.of(value);
                default -> throw new IllegalArgumentException("unknown option " + word);
            }
        }
        return new Options(
                benchmarks.isEmpty() ? ALL : benchmarks,
                round,
                rounds,
                warmUp,
                callers,
                databases,
                contenders,
                rows,
                out,
                nginx,
                new Gateway(gatewayJava, ioUring));
    }

    private static Duration seconds(String value) {
        return Duration.ofMillis((long) (Double.parseDouble(value) * 1000));
    }
}
