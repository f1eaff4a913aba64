package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.State;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.PostgresServer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Queued and stepped handlers")
class WaysTest {

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {
        private RunningSample running;
        private WaysApp app;
        private String id;

        abstract String jdbcUrl(Path folder);

        @BeforeAll
        void start(@TempDir Path folder) {
            running = new RunningSample(
                    WaysApp.class,
                    jdbcUrl(folder),
                    "--onlyonce.operations.[POST /queued].wait-max=5s",
                    "--onlyonce.operations.[POST /stepped].call-max=0s",
                    "--onlyonce.outbox.backoff-first=50ms",
                    "--onlyonce.outbox.backoff-longest=1s",
                    "--onlyonce.outbox.tries-max=1000",
                    "--management.endpoints.web.exposure.include=*");
            app = running.bean(WaysApp.class);
        }

        @AfterAll
        void stop() {
            running.close();
        }

        @BeforeEach
        void calm() {
            id = UUID.randomUUID().toString();
            app.reachable = true;
            app.losing = false;
            app.runs.set(0);
            app.calls.set(0);
        }

        private HttpResponse<String> post(String path, long amount) {
            return running.post(path, id, "{\"id\":\"" + id + "\",\"amount\":" + amount + "}");
        }

        private String state() {
            return running.bean(WaysApp.Table.class).state(id);
        }

        @Test
        @DisplayName("W1 a queued handler's client gets the worker's result, and its retry a replay of it")
        void queued() {
            HttpResponse<String> first = post("/queued", 10);
            HttpResponse<String> retry = post("/queued", 10);

            assertThat(first.statusCode()).as(first.body()).isEqualTo(201);
            assertThat(isReplay(first)).isFalse();
            assertThat(first.headers().firstValue("Idempotency-Key-Expires")).isPresent();
            assertThat(retry.body()).isEqualTo(first.body());
            assertThat(isReplay(retry)).isTrue();
            assertThat(state()).isEqualTo("charged");
            assertThat(app.runs).hasValue(1);
            assertThat(app.calls).hasValue(1);
            assertThat(post("/queued", 11).statusCode()).isEqualTo(422);
        }

        @Test
        @DisplayName(
                "W1 while the worker has no result, a queued handler's client gets 202 and where to ask; D6 later the"
                        + " result")
        void pending() {
            app.reachable = false;
            HttpResponse<String> first =
                    running.post("/queued", id, "{\"id\":\"" + id + "\",\"amount\":10}", "X-Tenant", "acme");

            assertThat(first.statusCode()).as(first.body()).isEqualTo(202);
            assertThat(first.headers().firstValue("Retry-After")).isPresent();
            assertThat(first.headers().firstValue("Location")).hasValue("/orders/" + id);
            assertThat(state()).isEqualTo("accepted");
            assertThat(running.send("GET", "/actuator/health", "").body())
                    .contains("\"onlyonceOutbox\":{")
                    .contains("\"waiting\":1")
                    .contains("\"dead\":0")
                    .contains("\"oldestSeconds\"");
            app.reachable = true;
            HttpResponse<String> later = post("/queued", 10);
            assertThat(later.statusCode()).isEqualTo(201);
            assertThat(app.runs).hasValue(1);
        }

        @Test
        @DisplayName("D5 a queued handler that refuses has written and queued nothing, and its key stays free")
        void refused() {
            assertThat(post("/queued", -1).statusCode()).isEqualTo(422);
            assertThat(state()).isEqualTo("absent");
            assertThat(running.bean(Onlyonce.class).find(Key.of("acme", "POST /queued", id)))
                    .isEmpty();
            assertThat(post("/queued", 10).statusCode()).isEqualTo(201);
        }

        @Test
        @DisplayName("D5 a queued request that is refused after its handler has returned leaves its key free too")
        void refusedLate() {
            String body = "{\"id\":\"" + id + "\",\"amount\":10}";
            assertThat(running.post("/queued", id, body, "X-Tenant", "acme", "X-Conflict", "yes")
                            .statusCode())
                    .isEqualTo(409);
            assertThat(state()).isEqualTo("absent");
            assertThat(running.bean(Onlyonce.class).find(Key.of("acme", "POST /queued", id)))
                    .isEmpty();
            assertThat(post("/queued", 10).statusCode()).isEqualTo(201);
        }

        @Test
        @DisplayName("D8 a stepped handler resumes after its last finished step")
        void resumes() {
            app.reachable = false;
            assertThat(post("/stepped", 10).statusCode()).isEqualTo(500);
            assertThat(state()).isEqualTo("written");
            app.reachable = true;
            HttpResponse<String> second = post("/stepped", 10);
            HttpResponse<String> retry = post("/stepped", 10);

            assertThat(second.statusCode()).as(second.body()).isEqualTo(201);
            assertThat(isReplay(retry)).isTrue();
            assertThat(retry.body()).isEqualTo(second.body());
            assertThat(app.runs).hasValue(2);
            assertThat(app.calls).hasValue(1);
        }

        @Test
        @DisplayName(
                "D4 a step in doubt makes a stepped handler's outcome unknown; D6 its reconciler finds it, and a retry"
                        + " goes on")
        void inDoubt() {
            app.losing = true;
            assertThat(post("/stepped", 10).statusCode()).isEqualTo(500);
            app.losing = false;
            Key key = Key.of("acme", "POST /stepped", id);
            Onlyonce once = running.bean(Onlyonce.class);
            assertThat(once.find(key).orElseThrow().state()).isIn(State.UNKNOWN, State.RETRYABLE);
            while (once.find(key).orElseThrow().state() == State.UNKNOWN) {
                once.operator().reconcile();
            }
            assertThat(post("/stepped", 10).body()).isEqualTo("found charge");
            assertThat(app.calls).hasValue(1);
        }

        @Test
        @DisplayName(
                "D7 a stepped handler that refuses before its first step runs again for the same request, and only for"
                        + " that")
        void steppedRefusal() {
            assertThat(post("/stepped", -1).statusCode()).isEqualTo(422);
            assertThat(post("/stepped", 10).statusCode()).isEqualTo(422);
            assertThat(post("/stepped", -1).statusCode()).isEqualTo(422);
            assertThat(app.runs).hasValue(2);
        }

        @Test
        @DisplayName("D8 a bean's method runs in steps and returns what the first run returned")
        void method() {
            WaysApp.Bookings bookings = running.bean(WaysApp.Bookings.class);
            assertThat(bookings.book(id, null)).isEqualTo("charge 1");
            assertThat(bookings.book(id, null)).isEqualTo("charge 1");
            assertThat(app.runs).hasValue(1);
        }
    }

    @Test
    @DisplayName("S3 a stepped handler that resumes takes no share of a tenant's new keys again")
    void resumedWithinLimits(@TempDir Path folder) {
        try (RunningSample limited = new RunningSample(
                WaysApp.class,
                "jdbc:sqlite:" + folder.resolve("limits.db")
                        + "?synchronous=FULL&journal_mode=WAL&transaction_mode=IMMEDIATE",
                "--onlyonce.operations.[POST /stepped].call-max=0s",
                "--onlyonce.limits.stored-max=3")) {
            limited.bean(WaysApp.class).reachable = false;
            for (int attempt = 1; attempt <= 5; attempt++) {
                assertThat(limited.post("/stepped", "first", "{\"id\":\"first\",\"amount\":10}")
                                .statusCode())
                        .isEqualTo(500);
            }
            limited.bean(WaysApp.class).reachable = true;
            assertThat(limited.post("/stepped", "second", "{\"id\":\"second\",\"amount\":10}")
                            .statusCode())
                    .isEqualTo(201);
        }
    }

    @Nested
    class OnSqlite extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return "jdbc:sqlite:" + folder.resolve("ways.db")
                    + "?synchronous=FULL&journal_mode=WAL&transaction_mode=IMMEDIATE";
        }
    }

    @Nested
    class OnPostgres extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return PostgresServer.shared().createDatabase();
        }
    }

    @Nested
    class OnMariaDb extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return MariaDbServer.shared().createDatabase();
        }
    }
}
