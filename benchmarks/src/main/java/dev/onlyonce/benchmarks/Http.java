package dev.onlyonce.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;

/**
 * A trivial Spring MVC POST on PostgreSQL: bare, behind the filter that one writes by hand, with the starter, and replayed.
 * Three servers, each an ordinary Spring Boot application in a process of its own; this process makes the load.
 */
final class Http {
    private static final int REPLAYED_KEYS = 1000;
    /** Until the compiler is done with all of Tomcat and Spring; counted, because a busy machine takes longer to get there. */
    private static final int WARM_UP_REQUESTS = 150_000;

    private static final int WARM_UP_CONNECTIONS = 64;

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
                        + " processor time of server and database for each request, in microseconds.");
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
                HttpServer byHand = server("by-hand")) {
            Contest contest = new Contest(options)
                    .add("bare", fresh(bare))
                    .add("starter", fresh(starter))
                    .add("by hand", fresh(byHand))
                    .add("replay", replays(starter))
                    .add("replay by hand", replays(byHand));
            for (HttpServer server : List.of(bare, starter, byHand)) {
                warmUp(fresh(server));
            }
            for (int connections : options.callers()) {
                row(connections, contest.run(Threads.platform(), connections));
            }
        }
    }

    private HttpServer server(String contender) throws Exception {
        return HttpServer.start(contender, databases.create(Databases.Kind.POSTGRESQL));
    }

    private static Contest.Contender fresh(HttpServer server) {
        return on(server, Work::newKey);
    }

    private void warmUp(Contest.Contender contender) throws Exception {
        for (int requests = 0; requests < WARM_UP_REQUESTS; ) {
            requests += contender
                    .run(Threads.platform(), WARM_UP_CONNECTIONS, options.round())
                    .sorted()
                    .length;
        }
    }

    private static Contest.Contender replays(HttpServer server) throws Exception {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < REPLAYED_KEYS; i++) {
            keys.add(Work.newKey());
        }
        HttpLoad.once(server.port(), keys);
        return on(server, () -> keys.get(ThreadLocalRandom.current().nextInt(REPLAYED_KEYS)));
    }

    private static Contest.Contender on(HttpServer server, Supplier<String> keys) {
        return (threads, connections, duration) -> {
            try (HttpLoad load = new HttpLoad(server.port(), connections)) {
                return load.run(keys, duration);
            }
        };
    }

    private void row(int connections, Contest.Results results) {
        Measured bare = results.of("bare");
        Measured starter = results.of("starter");
        Measured byHand = results.of("by hand");
        Measured replay = results.of("replay");
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
                results.of("replay by hand").perSecond(),
                starter.millis(0.5),
                byHand.millis(0.5),
                starter.millis(0.99),
                byHand.millis(0.99),
                bare.cpuMicros(),
                starter.cpuMicros(),
                byHand.cpuMicros(),
                replay.cpuMicros());
    }
}
