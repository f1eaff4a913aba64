package dev.onlyonce.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.benchmarks.RequestTurns.Turn;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A Spring MVC POST that writes one row on PostgreSQL: bare, in both ways of the starter, and in both ways as one writes them by hand;
 * with fresh keys, with replays, and in a storm of duplicates. Each server is an ordinary Spring Boot application in a process of
 * its own; another makes the load.
 */
final class Http {
    private static final int STORM_CONNECTIONS = 64;

    private final Options options;
    private final Databases databases;
    private final Report report;

    Http(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title(
                "Spring MVC on Tomcat and PostgreSQL: a POST that writes one row and answers about 500 bytes of JSON");
        report.line(
                "Spring Boot's defaults but %d connections in the pool. Times are milliseconds; CPU is processor time of all"
                        + " processes for each request, the generator too, in microseconds.",
                Databases.POOL);
        Map<HttpContender, HttpServer> servers = new EnumMap<>(HttpContender.class);
        try (RequestTurns turns = new RequestTurns(options)) {
            for (HttpContender contender : options.contenders()) {
                HttpServer server = HttpServer.start(contender, databases.create(Databases.Kind.POSTGRESQL));
                servers.put(contender, server);
                turns.add(name(contender, RequestLoad.Kind.FRESH), server.port(), RequestLoad.Kind.FRESH);
                if (contender != HttpContender.BARE) {
                    turns.add(name(contender, RequestLoad.Kind.REPLAY), server.port(), RequestLoad.Kind.REPLAY);
                }
            }
            turns.warmUp();
            header();
            for (int connections : options.callers()) {
                Map<String, Turn> medians = turns.run(connections);
                for (HttpContender contender : servers.keySet()) {
                    row(connections, contender, medians);
                }
            }
            storms(servers);
        } finally {
            for (HttpServer server : servers.values()) {
                server.close();
            }
        }
    }

    private static String name(HttpContender contender, RequestLoad.Kind kind) {
        return contender + " " + kind;
    }

    private void header() {
        report.line("");
        report.header(
                "connections",
                " application",
                "fresh/s",
                "of by hand",
                "p50",
                "p99",
                "CPU",
                "replays/s",
                "of by hand",
                "CPU");
    }

    private void row(int connections, HttpContender contender, Map<String, Turn> medians) {
        Turn fresh = requireNonNull(medians.get(name(contender, RequestLoad.Kind.FRESH)));
        Turn replay = medians.get(name(contender, RequestLoad.Kind.REPLAY));
        report.line(
                "| %d | %s | %.0f | %s | %.2f | %.2f | %.0f | %s | %s | %s |",
                connections,
                contender.shown(),
                fresh.perSecond(),
                ratio(contender, RequestLoad.Kind.FRESH, medians),
                fresh.p50Millis(),
                fresh.p99Millis(),
                fresh.cpuMicros(),
                replay == null ? "" : Math.round(replay.perSecond()),
                ratio(contender, RequestLoad.Kind.REPLAY, medians),
                replay == null ? "" : Math.round(replay.cpuMicros()));
    }

    private static String ratio(HttpContender contender, RequestLoad.Kind kind, Map<String, Turn> medians) {
        HttpContender twin =
                contender == HttpContender.LEASED ? HttpContender.LEASED_BY_HAND : HttpContender.TRANSACTIONAL_BY_HAND;
        Turn own = medians.get(name(contender, kind));
        Turn byHand = medians.get(name(twin, kind));
        return contender.isStarter() && own != null && byHand != null
                ? String.format(Locale.ROOT, "**%.2fx**", own.perSecond() / byHand.perSecond())
                : "";
    }

    private void storms(Map<HttpContender, HttpServer> servers) throws Exception {
        int requests = RequestLoad.STORM_KEYS * RequestLoad.STORM_COPIES;
        report.line("");
        report.line(
                "A storm: %d keys, each in %d requests at once, over %d connections; all must be answered with the result.",
                RequestLoad.STORM_KEYS, RequestLoad.STORM_COPIES, STORM_CONNECTIONS);
        report.line("");
        report.header(" application", "ms", "p99", "CPU");
        try (RequestTurns turns = new RequestTurns(options)) {
            List<HttpContender> contenders = servers.keySet().stream()
                    .filter(contender -> contender != HttpContender.BARE)
                    .toList();
            for (HttpContender contender : contenders) {
                turns.add(
                        contender.name(), requireNonNull(servers.get(contender)).port(), RequestLoad.Kind.STORM);
            }
            Map<String, Turn> medians = turns.run(STORM_CONNECTIONS);
            for (HttpContender contender : contenders) {
                Turn storm = requireNonNull(medians.get(contender.name()));
                report.line(
                        "| %s | %.0f | %.2f | %.0f |",
                        contender.shown(), requests * 1000.0 / storm.perSecond(), storm.p99Millis(), storm.cpuMicros());
            }
        }
    }
}
