package dev.onlyonce.benchmarks;

import java.nio.file.Path;
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
    private static final String SERVICE = "service alone";
    private static final String NGINX = "nginx, plain";
    private static final String PLAIN = "gateway, unprotected";
    private static final String REPLAY = "gateway, replays";
    private static final String FRESH = "gateway, fresh";
    private static final String STATEMENTS = "one statement a request";

    private final Options options;
    private final Databases databases;
    private final Report report;

    GatewaySpeed(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Gateway on PostgreSQL" + (options.gateway().ioUring() ? ", by io_uring" : ""));
        try (TemporaryFolder folder = TemporaryFolder.create("onlyonce-gateway")) {
            run(folder.path());
        }
    }

    private void run(Path folder) throws Exception {
        Optional<String> nginx = Nginx.find(options.nginx());
        if (nginx.isEmpty()) {
            report.line(
                    "nginx is not installed, so there is nothing to compare plain proxying with, and the service is a"
                            + " Vert.x server. Say where nginx is with --nginx PATH.");
            try (Child service = Child.self(VertxService.CHILD)) {
                run(folder, Integer.parseInt(service.read()), Optional.empty());
            }
            return;
        }
        try (Nginx service = Nginx.service(nginx.get(), folder);
                Nginx proxy = Nginx.proxy(nginx.get(), folder, service.port())) {
            run(folder, service.port(), Optional.of(proxy));
        }
    }

    private void run(Path folder, int service, Optional<Nginx> proxy) throws Exception {
        String ours = databases.create(Databases.Kind.POSTGRESQL);
        String theirs = databases.create(Databases.Kind.POSTGRESQL);
        String yaml = "upstreams: [{url: 'http://127.0.0.1:%d'}]%nstore: {url: '%s'}%n".formatted(service, ours);
        try (GatewayProcess gateway = GatewayProcess.start(folder, yaml, options.gateway());
                Child statements = Child.self(StatementProxy.CHILD, Integer.toString(service), theirs);
                RequestTurns turns = new RequestTurns(options)) {
            proxy.ifPresent(nginx -> turns.add(NGINX, nginx.port(), RequestLoad.Kind.PLAIN));
            turns.add(SERVICE, service, RequestLoad.Kind.PLAIN)
                    .add(PLAIN, gateway.port(), RequestLoad.Kind.PLAIN)
                    .add(REPLAY, gateway.port(), RequestLoad.Kind.REPLAY)
                    .add(FRESH, gateway.port(), RequestLoad.Kind.FRESH)
                    .add(STATEMENTS, Integer.parseInt(statements.read()), RequestLoad.Kind.FRESH)
                    .warmUp();
            compare(turns);
            replaysCallNobody(turns, gateway);
        }
    }

    private void compare(RequestTurns turns) throws Exception {
        report.header(
                "connections", " what", "requests/s", "p50 ms", "p99 ms", "of nginx", "of one statement", "CPU µs");
        for (int connections : CONNECTIONS) {
            Map<String, RequestTurns.Turn> medians = turns.run(connections);
            double nginx = perSecond(medians.get(NGINX));
            double statements = perSecond(medians.get(STATEMENTS));
            medians.forEach((name, median) -> report.line(
                    "| %d | %s | %.0f | %.2f | %.2f | **%.2fx** | %.2fx | %.0f |",
                    connections,
                    name,
                    median.perSecond(),
                    median.p50Millis(),
                    median.p99Millis(),
                    median.perSecond() / nginx,
                    median.perSecond() / statements,
                    median.cpuMicros()));
        }
    }

    private static double perSecond(RequestTurns.@Nullable Turn turn) {
        return turn == null ? Double.NaN : turn.perSecond();
    }

    /** Every connection repeats its key: only the first request of each may reach anybody. */
    private void replaysCallNobody(RequestTurns turns, GatewayProcess gateway) throws Exception {
        int connections = 64;
        double claimed = gateway.metric("api_idempotency_claim_duration_seconds_count");
        double forwarded = gateway.metric("gateway_upstream_seconds_count");
        double replayed = gateway.metric("api_idempotency_reserve_replay_total");
        turns.again(REPLAY, connections);
        report.line("");
        report.line(
                "%d keys, %.0f replays: %.0f calls of the database, %.0f of the service.",
                connections,
                gateway.metric("api_idempotency_reserve_replay_total") - replayed,
                gateway.metric("api_idempotency_claim_duration_seconds_count") - claimed - connections,
                gateway.metric("gateway_upstream_seconds_count") - forwarded - connections);
    }
}
