package dev.onlyonce.benchmarks;

import static java.util.Objects.requireNonNull;

import java.util.Map;

/**
 * A trivial Spring MVC POST on PostgreSQL: bare, behind the filter that one writes by hand, with the starter, and replayed.
 * Three servers, each an ordinary Spring Boot application in a process of its own; another makes the load.
 */
final class Http {
    private static final String BARE = "bare";
    private static final String STARTER = "starter";
    private static final String BY_HAND = "by hand";
    private static final String REPLAYS = "replays";
    private static final String REPLAYS_BY_HAND = "replays by hand";

    private final Options options;
    private final Databases databases;
    private final Report report;

    Http(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Spring MVC on Tomcat and PostgreSQL: a POST with JSON of about 500 bytes as the answer");
        report.line(
                "Spring Boot's defaults: 200 threads in Tomcat, 10 connections in the pool. Times are milliseconds; CPU is"
                        + " processor time of all processes for each request, the generator too, in microseconds.");
        report.line("");
        report.header(
                "connections",
                "bare/s",
                "starter/s",
                "by hand/s",
                "starter/by hand",
                "replays/s",
                "replays/bare",
                "replays by hand/s",
                "starter p50",
                "by hand p50",
                "starter p99",
                "by hand p99",
                "bare CPU",
                "starter CPU",
                "by hand CPU",
                "replay CPU");
        try (HttpServer bare = server("bare");
                HttpServer starter = server("starter");
                HttpServer byHand = server("by-hand");
                RequestTurns turns = new RequestTurns(options)) {
            turns.add(BARE, bare.port(), RequestLoad.Kind.FRESH)
                    .add(STARTER, starter.port(), RequestLoad.Kind.FRESH)
                    .add(BY_HAND, byHand.port(), RequestLoad.Kind.FRESH)
                    .add(REPLAYS, starter.port(), RequestLoad.Kind.REPLAY)
                    .add(REPLAYS_BY_HAND, byHand.port(), RequestLoad.Kind.REPLAY)
                    .warmUp();
            for (int connections : options.callers()) {
                row(connections, turns.run(connections));
            }
        }
    }

    private HttpServer server(String contender) throws Exception {
        return HttpServer.start(contender, databases.create(Databases.Kind.POSTGRESQL));
    }

    private void row(int connections, Map<String, RequestTurns.Turn> medians) {
        RequestTurns.Turn bare = requireNonNull(medians.get(BARE));
        RequestTurns.Turn starter = requireNonNull(medians.get(STARTER));
        RequestTurns.Turn byHand = requireNonNull(medians.get(BY_HAND));
        RequestTurns.Turn replay = requireNonNull(medians.get(REPLAYS));
        report.line(
                "| %d | %.0f | %.0f | %.0f | **%.2fx** | %.0f | **%.0f%%** | %.0f | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f"
                        + " | %.0f | %.0f |",
                connections,
                bare.perSecond(),
                starter.perSecond(),
                byHand.perSecond(),
                starter.perSecond() / byHand.perSecond(),
                replay.perSecond(),
                100 * replay.perSecond() / bare.perSecond(),
                requireNonNull(medians.get(REPLAYS_BY_HAND)).perSecond(),
                starter.p50Millis(),
                byHand.p50Millis(),
                starter.p99Millis(),
                byHand.p99Millis(),
                bare.cpuMicros(),
                starter.cpuMicros(),
                byHand.cpuMicros(),
                replay.cpuMicros());
    }
}
