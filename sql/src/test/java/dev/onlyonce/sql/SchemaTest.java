package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.StoreRejected;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("The schema")
final class SchemaTest {
    private static final int VERSION = 4;
    private static final int NODES = 8;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    @DisplayName("is created once by several nodes that start at the same time on an empty database")
    void race(TestDatabase database) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(NODES);
        try (HikariDataSource dataSource = database.create(folder)) {
            CountDownLatch go = new CountDownLatch(1);
            List<Future<Integer>> nodes = new ArrayList<>();
            for (int i = 0; i < NODES; i++) {
                nodes.add(executor.submit(() -> {
                    go.await();
                    try (SqlStore store = SqlStore.open(dataSource)) {
                        return store.claim(Claims.claims("key", 3)).size();
                    }
                }));
            }
            go.countDown();
            for (Future<Integer> node : nodes) {
                assertThat(node.get(60, TimeUnit.SECONDS)).isEqualTo(3);
            }
            assertThat(SqlClock.number(dataSource, "SELECT count(*) FROM onlyonce_schema"))
                    .as("each script once")
                    .isEqualTo(VERSION);
            assertThat(SqlClock.number(dataSource, "SELECT count(*) FROM onlyonce_entry"))
                    .isEqualTo(3);
        } finally {
            executor.shutdownNow();
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("can be created by hand from the printed script")
    void byHand(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            String script = Schema.script(database.kind());
            assertThat(script).contains("onlyonce_entry").contains("onlyonce_schema");
            SqlClock.execute(dataSource, Schema.statements(script).toArray(String[]::new));
            try (SqlStore store =
                    SqlStore.builder(dataSource).schema(SchemaMode.VALIDATE).build()) {
                assertThat(store.claim(Claims.claims("key", 2))).hasSize(2);
                Schema.Status status = store.schema().status();
                assertThat(status).isEqualTo(new Schema.Status(database.kind(), VERSION, VERSION));
                assertThat(status.isCurrent()).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("is asked for with a clear error when it is missing and must not be created")
    void missing(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore.Builder builder = SqlStore.builder(dataSource).schema(SchemaMode.VALIDATE);
            assertThatThrownBy(builder::build)
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("version 0")
                    .hasMessageContaining("needs " + VERSION);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("of a newer release is refused and left alone")
    void newer(TestDatabase database) {
        try (HikariDataSource dataSource = database.create(folder)) {
            SqlStore.open(dataSource).close();
            SqlClock.execute(dataSource, "INSERT INTO onlyonce_schema (version) VALUES (99)");
            assertThatThrownBy(() -> SqlStore.open(dataSource))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("99")
                    .hasMessageContaining("upgrade");
        }
    }
}
