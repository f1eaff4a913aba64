package dev.onlyonce.benchmarks;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.cassandra.CassandraStore;
import dev.onlyonce.testservers.CassandraCluster;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.UUID;

/**
 * Fresh operations on three Cassandra nodes, against what everybody writes by hand: {@code INSERT … IF NOT EXISTS}, then
 * {@code UPDATE … IF token = …}. By hand there is no audit, no lease that is ever swept, and no answer after a time-out.
 */
final class CassandraSpeed {
    private static final String BY_HAND = "by hand";
    private static final String OURS = "Onlyonce";

    /** By hand nobody knows what became of a request that timed out, so none does, on a busy machine either. */
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private static final String[] PATIENCE = {
        "read_request_timeout: 20s", "write_request_timeout: 20s", "cas_contention_timeout: 20s"
    };

    private final Options options;
    private final Report report;

    CassandraSpeed(Options options, Report report) {
        this.options = options;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Fresh operations on three Cassandra nodes");
        report.header(
                "callers",
                "by hand /s",
                "Onlyonce /s",
                "ratio",
                "by hand p50, p99 ms",
                "Onlyonce p50, p99 ms",
                "processor ms/op by hand, Onlyonce");
        try (CassandraCluster cluster = CassandraCluster.start(3, PATIENCE);
                CassandraStore store =
                        CassandraStore.open(cluster.url("onlyonce") + "?timeout=" + TIMEOUT.toSeconds() + "s");
                CqlSession session = session(cluster);
                Onlyonce once = Onlyonce.builder(store).build()) {
            Contest contest =
                    new Contest(options).add(BY_HAND, byHand(session)).add(OURS, number -> () -> Work.execute(once));
            contest.warmUp();
            for (int callers : options.callers()) {
                Contest.Results results = contest.run(Threads.platform(), callers);
                Measured hand = results.of(BY_HAND);
                Measured ours = results.of(OURS);
                report.line(
                        "| %d | %.0f | **%.0f** | %.2f | %.1f, %.1f | %.1f, %.1f | %.1f, %.1f |",
                        callers,
                        hand.perSecond(),
                        ours.perSecond(),
                        ours.perSecond() / hand.perSecond(),
                        hand.millis(0.5),
                        hand.millis(0.99),
                        ours.millis(0.5),
                        ours.millis(0.99),
                        hand.cpuMicros() / 1000,
                        ours.cpuMicros() / 1000);
            }
        }
    }

    private static CqlSession session(CassandraCluster cluster) {
        CqlSession session = CqlSession.builder()
                .addContactPoint(cluster.servers().get(0).address())
                .withLocalDatacenter("datacenter1")
                .withKeyspace("onlyonce")
                .withConfigLoader(DriverConfigLoader.programmaticBuilder()
                        .withString(DefaultDriverOption.PROTOCOL_VERSION, "V4")
                        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, TIMEOUT)
                        .build())
                .build();
        session.execute("""
                CREATE TABLE IF NOT EXISTS by_hand (tenant text, key text, state tinyint, claim uuid, operation text,
                fingerprint blob, created timestamp, result blob, PRIMARY KEY ((tenant, key)))
                """);
        return session;
    }

    private static Load.Callers byHand(CqlSession session) {
        PreparedStatement claim =
                session.prepare("INSERT INTO by_hand (tenant, key, state, claim, operation, fingerprint, created)"
                        + " VALUES (?, ?, 1, ?, ?, ?, toTimestamp(now())) IF NOT EXISTS");
        PreparedStatement settle =
                session.prepare("UPDATE by_hand SET state = 2, result = ? WHERE tenant = ? AND key = ? IF claim = ?");
        return number -> () -> {
            String key = Work.newKey();
            UUID token = UUID.randomUUID();
            ByteBuffer digest = ByteBuffer.wrap(Work.DIGEST);
            apply(session, claim.bind(Work.TENANT, key, token, Work.OPERATION, digest));
            apply(session, settle.bind(ByteBuffer.wrap(Work.response()), Work.TENANT, key, token));
        };
    }

    private static void apply(CqlSession session, BoundStatement statement) {
        BoundStatement sure = statement
                .setConsistencyLevel(ConsistencyLevel.QUORUM)
                .setSerialConsistencyLevel(ConsistencyLevel.SERIAL);
        if (!session.execute(sure).wasApplied()) {
            throw new IllegalStateException("a fresh key was refused");
        }
    }
}
