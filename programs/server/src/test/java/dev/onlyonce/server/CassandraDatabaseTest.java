package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.server.cli.Cli;
import dev.onlyonce.testservers.CassandraCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("An operator of Cassandra")
@Tag("thorough")
class CassandraDatabaseTest extends AdminFixture {

    @Test
    @DisplayName(
            "creates keyspace and tables, works without a gateway, and learns which commands Cassandra does not have")
    void cassandra() throws Exception {
        Path own = Files.createDirectory(folder.resolve("cassandra"));
        String db = CassandraCluster.shared().url("operator");
        Result missing = run("schema", "status", "--db", db);
        assertThat(missing.exitCode()).isEqualTo(Cli.UNAVAILABLE);
        assertThat(missing.err()).contains("no keyspace operator", "onlyonce schema apply");
        assertThat(run("schema", "apply", "--db", db).exitCode()).isZero();
        assertThat(run("schema", "status", "--db", db).exitCode()).isZero();
        try (CountingUpstream upstream = new CountingUpstream();
                Running gateway = Running.start(own, upstream.url(), "store: {url: '" + db + "', schema: validate}")) {
            assertThat(gateway.post("/payments", "order-1", "{}").statusCode()).isEqualTo(201);
            assertThat(gateway.post("/payments", "order-1", "{}").statusCode()).isEqualTo(201);
            assertThat(upstream.effects("order-1")).isEqualTo(1);
        }
        assertThat(run("keys", "list", "--db", db).out()).contains("order-1");
        assertThat(run("stats", "--db", db, "--json").out()).contains("\"completed\" : 1");
        assertThat(run("outbox", "list", "--db", db).exitCode()).isZero();
        assertThat(run("keys", "evict", "order-1", "--reason", "test", "--db", db)
                        .exitCode())
                .isZero();
        assertThat(run("keys", "list", "--db", db).out()).doesNotContain("order-1");
        assertThat(run("keys", "list", "--db", db + "?evict=no").exitCode()).isEqualTo(Cli.USAGE);
        assertThat(run("keys", "list", "--db", "cassandra://127.0.0.1:1/x").err())
                .contains("127.0.0.1:1", "Connection refused");
    }
}
