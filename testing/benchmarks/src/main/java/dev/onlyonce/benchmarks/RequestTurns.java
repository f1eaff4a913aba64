package dev.onlyonce.benchmarks;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Servers that take turns under the same load, which comes from a process of its own. */
final class RequestTurns implements AutoCloseable {
    private static final int WARM_UP_CONNECTIONS = 64;
    private static final int WARM_UPS_MAX = 12;
    /** One turn without progress may be an accident. */
    private static final int WARM_UPS_WITHOUT_PROGRESS = 2;

    /** It ends when all are answered. */
    private static final long STORM_MAX_MILLIS = 60_000;

    private static final double CHEAPER = 0.97;

    private final Options options;
    private final Child load;
    private final Map<String, Contender> contenders = new LinkedHashMap<>();

    RequestTurns(Options options) throws IOException {
        this.options = options;
        load = Child.self(RequestLoad.CHILD);
    }

    /** A server and what is asked of it. */
    record Contender(int port, RequestLoad.Kind kind) {}

    /** What a turn came to; processor time is that of all processes that were started, the generator too. */
    record Turn(double perSecond, double p50Millis, double p99Millis, double cpuMicros) {}

    RequestTurns add(String name, int port, RequestLoad.Kind kind) {
        contenders.put(name, new Contender(port, kind));
        return this;
    }

    /**
     * Until a request of each costs no less: a server is a lot of code for a compiler that shares two cores with everything
     * else, and takes half a minute of load.
     */
    void warmUp() throws Exception {
        for (Contender contender : contenders.values()) {
            double least = Double.MAX_VALUE;
            int withoutProgress = 0;
            for (int i = 0; i < WARM_UPS_MAX && withoutProgress < WARM_UPS_WITHOUT_PROGRESS; i++) {
                double now = turn(
                                contender, WARM_UP_CONNECTIONS, options.warmUp().toMillis())
                        .cpuMicros();
                withoutProgress = now < least * CHEAPER ? 0 : withoutProgress + 1;
                least = Math.min(least, now);
            }
        }
    }

    /** The median of each one's turns. */
    Map<String, Turn> run(int connections) throws Exception {
        Map<String, List<Turn>> rounds = new LinkedHashMap<>();
        for (int round = 0; round < options.rounds(); round++) {
            for (Map.Entry<String, Contender> contender : contenders.entrySet()) {
                rounds.computeIfAbsent(contender.getKey(), name -> new ArrayList<>())
                        .add(turn(contender.getValue(), connections, millis(contender.getValue())));
            }
        }
        Map<String, Turn> medians = new LinkedHashMap<>();
        rounds.forEach((name, turns) -> {
            turns.sort(Comparator.comparing(Turn::perSecond));
            medians.put(name, turns.get(turns.size() / 2));
        });
        return medians;
    }

    private long millis(Contender contender) {
        return contender.kind() == RequestLoad.Kind.STORM
                ? STORM_MAX_MILLIS
                : options.round().toMillis();
    }

    /** One more turn of one of them. */
    Turn again(String name, int connections) throws Exception {
        return turn(
                requireNonNull(contenders.get(name), name),
                connections,
                options.round().toMillis());
    }

    private Turn turn(Contender contender, int connections, long millis) throws Exception {
        long cpu = Load.cpuNanosOfServers();
        RequestLoad.Result result = RequestLoad.Result.parse(
                load.ask(contender.port() + " " + connections + " " + millis + " " + contender.kind()));
        if (result.failures() > 0) {
            throw new IllegalStateException(result.failures() + " requests failed");
        }
        // A storm may end before its time.
        double requests = contender.kind() == RequestLoad.Kind.STORM
                ? RequestLoad.STORM_KEYS * RequestLoad.STORM_COPIES
                : result.perSecond() * millis / 1000;
        return new Turn(
                result.perSecond(),
                result.p50Millis(),
                result.p99Millis(),
                (Load.cpuNanosOfServers() - cpu) / 1e3 / requests);
    }

    @Override
    public void close() throws IOException {
        load.close();
    }
}
