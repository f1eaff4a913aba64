package dev.onlyonce.benchmarks;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The gateway against nginx as a plain proxy, against the service alone, and against a gateway that one would write by hand,
 * all in front of the same service, in processes of their own, in turns.
 */
final class GatewaySpeed {
    private static final List<Integer> CONNECTIONS = List.of(1, 64, 256);
    private static final int WARM_UP_CONNECTIONS = 64;
    private static final int WARM_UPS_MAX = 8;
    private static final double FASTER = 1.05;
    private static final String SERVICE = "service alone";
    private static final String NGINX = "nginx, plain";
    private static final String PLAIN = "gateway, unprotected";
    private static final String REPLAY = "gateway, replays";
    private static final String FRESH = "gateway, fresh";
    private static final String STATEMENTS = "one statement a request";

    private final Options options;
    private final Databases databases;
    private final Report report;
    private final Map<String, Contender> contenders = new LinkedHashMap<>();

    private record Contender(int port, RequestLoad.Kind kind) {}

    GatewaySpeed(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Gateway on PostgreSQL");
        Optional<String> nginx = Nginx.find(options.nginx());
        Path folder = Files.createTempDirectory("onlyonce-gateway");
        if (nginx.isEmpty()) {
            report.line(
                    "nginx is not installed, so there is nothing to compare plain proxying with, and the service is a"
                            + " Vert.x server. Say where nginx is with --nginx PATH.");
            try (Child service = Child.self(VertxService.CHILD)) {
                run(folder, Integer.parseInt(service.read()));
            }
            return;
        }
        try (Nginx service = Nginx.service(nginx.get(), folder);
                Nginx proxy = Nginx.proxy(nginx.get(), folder, service.port())) {
            contenders.put(NGINX, new Contender(proxy.port(), RequestLoad.Kind.PLAIN));
            run(folder, service.port());
        }
    }

    private void run(Path folder, int service) throws Exception {
        String ours = databases.create(Databases.Kind.POSTGRESQL);
        String theirs = databases.create(Databases.Kind.POSTGRESQL);
        String yaml = "upstreams: [{url: 'http://127.0.0.1:%d'}]%nstore: {url: '%s'}%n".formatted(service, ours);
        try (GatewayProcess gateway = GatewayProcess.start(folder, yaml, options.gatewayJava());
                Child statements = Child.self(StatementProxy.CHILD, Integer.toString(service), theirs);
                Child load = Child.self(RequestLoad.CHILD)) {
            contenders.put(SERVICE, new Contender(service, RequestLoad.Kind.PLAIN));
            contenders.put(PLAIN, new Contender(gateway.port(), RequestLoad.Kind.PLAIN));
            contenders.put(REPLAY, new Contender(gateway.port(), RequestLoad.Kind.REPLAY));
            contenders.put(FRESH, new Contender(gateway.port(), RequestLoad.Kind.FRESH));
            contenders.put(STATEMENTS, new Contender(Integer.parseInt(statements.read()), RequestLoad.Kind.FRESH));
            for (Contender contender : contenders.values()) {
                warmUp(load, contender);
            }
            compare(load);
            replaysCallNobody(load, gateway);
        }
    }

    /** Until it gets no faster: a proxy is a lot of code for a compiler that shares two cores with everything else. */
    private void warmUp(Child load, Contender contender) throws Exception {
        double before = 0;
        for (int i = 0; i < WARM_UPS_MAX; i++) {
            double now = turn(
                            load,
                            contender,
                            WARM_UP_CONNECTIONS,
                            options.warmUp().toMillis())
                    .perSecond();
            if (now < before * FASTER) {
                return;
            }
            before = now;
        }
    }

    /** What a turn came to; processor time is that of all processes, the generator and the service too. */
    private record Turn(double perSecond, double p50Millis, double p99Millis, double cpuMicros) {}

    private static Turn turn(Child load, Contender contender, int connections, long millis) throws Exception {
        long cpu = Load.cpuNanosOfServers();
        RequestLoad.Result result = RequestLoad.Result.parse(
                load.ask(contender.port() + " " + connections + " " + millis + " " + contender.kind()));
        if (result.failures() > 0) {
            throw new IllegalStateException(result.failures() + " requests failed");
        }
        double requests = result.perSecond() * millis / 1000;
        return new Turn(
                result.perSecond(),
                result.p50Millis(),
                result.p99Millis(),
                (Load.cpuNanosOfServers() - cpu) / 1e3 / requests);
    }

    private void compare(Child load) throws Exception {
        report.header(
                "connections", " what", "requests/s", "p50 ms", "p99 ms", "of nginx", "of one statement", "CPU µs");
        for (int connections : CONNECTIONS) {
            Map<String, List<Turn>> rounds = new LinkedHashMap<>();
            for (int round = 0; round < options.rounds(); round++) {
                for (Map.Entry<String, Contender> contender : contenders.entrySet()) {
                    rounds.computeIfAbsent(contender.getKey(), name -> new ArrayList<>())
                            .add(turn(
                                    load,
                                    contender.getValue(),
                                    connections,
                                    options.round().toMillis()));
                }
            }
            double nginx = perSecond(rounds.get(NGINX));
            double statements = perSecond(rounds.get(STATEMENTS));
            rounds.forEach((name, results) -> {
                Turn median = median(results);
                report.line(
                        "| %d | %s | %.0f | %.2f | %.2f | **%.2fx** | %.2fx | %.0f |",
                        connections,
                        name,
                        median.perSecond(),
                        median.p50Millis(),
                        median.p99Millis(),
                        median.perSecond() / nginx,
                        median.perSecond() / statements,
                        median.cpuMicros());
            });
        }
    }

    private static double perSecond(@Nullable List<Turn> results) {
        return results == null ? Double.NaN : median(results).perSecond();
    }

    private static Turn median(List<Turn> results) {
        List<Turn> sorted = new ArrayList<>(results);
        sorted.sort((a, b) -> Double.compare(a.perSecond(), b.perSecond()));
        return sorted.get(sorted.size() / 2);
    }

    /** Every connection repeats its key: only the first request of each may reach anybody. */
    private void replaysCallNobody(Child load, GatewayProcess gateway) throws Exception {
        int connections = 64;
        double claimed = gateway.metric("gateway_claim_seconds_count");
        double forwarded = gateway.metric("gateway_upstream_seconds_count");
        double replayed = gateway.metric("api_idempotency_reserve_replay_total");
        turn(
                load,
                new Contender(gateway.port(), RequestLoad.Kind.REPLAY),
                connections,
                options.round().toMillis());
        report.line("");
        report.line(
                "%d keys, %.0f replays: %.0f calls of the database, %.0f of the service.",
                connections,
                gateway.metric("api_idempotency_reserve_replay_total") - replayed,
                gateway.metric("gateway_claim_seconds_count") - claimed - connections,
                gateway.metric("gateway_upstream_seconds_count") - forwarded - connections);
    }
}
