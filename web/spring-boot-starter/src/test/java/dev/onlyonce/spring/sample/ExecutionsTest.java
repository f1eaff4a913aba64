package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.PostgresServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("What PostgreSQL executes for a request in the transactional way")
final class ExecutionsTest {
    /** Enough that whatever else runs on the server is executed less often. */
    private static final int REQUESTS = 40;

    /** On a slow machine there are as many sweeps as requests. */
    private static final String NO_SWEEP = "--onlyonce.store.sweep-every=1h";

    /** Of each request of the storm. */
    private static final int COPIES = 10;

    private static DatabaseServer server;
    private static Connection counts;
    private static String url;

    @BeforeAll
    static void start() throws SQLException {
        server = PostgresServer.start("fsync=off", "shared_preload_libraries=pg_stat_statements");
        url = server.createDatabase();
        counts = DriverManager.getConnection(url);
        try (Statement statement = counts.createStatement()) {
            statement.execute("CREATE EXTENSION pg_stat_statements");
        }
    }

    @AfterAll
    static void stop() throws SQLException, IOException {
        counts.close();
        server.close();
    }

    /** What was executed for each request, by its first three words. The server does not count the end of a transaction. */
    private static List<String> executed(Runnable requests) throws SQLException {
        try (Statement statement = counts.createStatement()) {
            statement.execute("SELECT pg_stat_statements_reset()");
            requests.run();
            Map<String, Integer> executed = new TreeMap<>();
            try (ResultSet rows = statement.executeQuery(
                    "SELECT array_to_string((string_to_array(regexp_replace(replace(query, 'public.', ''), '\\s+', ' ', 'g'), ' '))[:3],"
                            + " ' '), round(sum(calls) / "
                            + REQUESTS + ") FROM pg_stat_statements WHERE calls >= " + REQUESTS / 2 + " GROUP BY 1")) {
                while (rows.next()) {
                    executed.put(rows.getString(1).strip(), rows.getInt(2));
                }
            }
            return executed.entrySet().stream()
                    .flatMap(text -> IntStream.range(0, text.getValue()).mapToObj(i -> text.getKey()))
                    .toList();
        }
    }

    private static void post(RunningSample app, String path, String run, boolean replayed) {
        for (int i = 0; i < REQUESTS; i++) {
            HttpResponse<String> answer = app.post(path, run + i, "{\"id\":\"" + run + i + "\",\"amount\":10}");
            assertThat(answer.statusCode()).isEqualTo(201);
            assertThat(isReplay(answer)).isEqualTo(replayed);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/payments", "/explicit"})
    @DisplayName("are the five that one writes by hand for a fresh key")
    void fresh(String path) throws SQLException {
        try (RunningSample app = new RunningSample(url, NO_SWEEP)) {
            post(app, path, "warm" + path, false);
            assertThat(executed(() -> post(app, path, "fresh" + path, false)))
                    .containsExactlyInAnyOrder(
                            "BEGIN", "INSERT INTO onlyonce_entry", "INSERT INTO ledger", "UPDATE onlyonce_entry e");
        }
    }

    @Test
    @DisplayName(
            "is one transaction for each key of a storm: all calls are answered with the result, duplicates cost nothing")
    void storm() throws SQLException {
        try (RunningSample app = new RunningSample(
                        url, NO_SWEEP, "--onlyonce.wait-max=60s", "--spring.datasource.hikari.maximum-pool-size=4");
                Statement statement = counts.createStatement()) {
            statement.execute("SELECT pg_stat_statements_reset()");
            List<CompletableFuture<HttpResponse<String>>> calls = IntStream.range(0, COPIES * REQUESTS)
                    .mapToObj(i -> "storm" + i / COPIES)
                    .map(key -> app.begin("/payments", key, "{\"id\":\"" + key + "\",\"amount\":10}"))
                    .toList();
            assertThat(calls.stream().map(CompletableFuture::join))
                    .allSatisfy(answer -> assertThat(answer.statusCode()).isEqualTo(201))
                    .filteredOn(RunningSample::isReplay)
                    .hasSize((COPIES - 1) * REQUESTS);
            for (String text :
                    List.of("INSERT INTO %onlyonce_entry%", "INSERT INTO ledger%", "UPDATE %onlyonce_entry%")) {
                try (ResultSet row = statement.executeQuery(
                        "SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE '" + text + "'")) {
                    row.next();
                    assertThat(row.getInt(1)).as(text).isEqualTo(REQUESTS);
                }
            }
        }
    }

    @Test
    @DisplayName("R1 is nothing for a replay on the node that executed, and on another node after its first replay")
    void replays() throws SQLException {
        try (RunningSample app = new RunningSample(url, NO_SWEEP);
                RunningSample other = new RunningSample(url, NO_SWEEP)) {
            post(app, "/payments", "replays", false);
            assertThat(executed(() -> post(app, "/payments", "replays", true))).isEmpty();
            assertThat(executed(() -> post(other, "/payments", "replays", true)))
                    .hasSize(4)
                    .contains("BEGIN", "INSERT INTO onlyonce_entry");
            assertThat(executed(() -> post(other, "/payments", "replays", true)))
                    .isEmpty();
        }
    }
}
