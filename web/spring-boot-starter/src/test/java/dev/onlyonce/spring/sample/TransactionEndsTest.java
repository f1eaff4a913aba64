package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Way;
import dev.onlyonce.servlet.TenantResolver;
import dev.onlyonce.spring.Idempotent;
import dev.onlyonce.testservers.PostgresServer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

@DisplayName("How transactions of the starter end")
@ExtendWith(OutputCaptureExtension.class)
@ResourceLock(Resources.SYSTEM_OUT)
class TransactionEndsTest {
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static volatile CountDownLatch running = new CountDownLatch(1);
    private static volatile CountDownLatch goOn = new CountDownLatch(1);

    @TempDir
    private Path folder;

    private final String id = UUID.randomUUID().toString();

    private static RunningSample postgres(String... properties) {
        RunningSample app = new RunningSample(App.class, PostgresServer.shared().createDatabase(), properties);
        app.bean(JdbcTemplate.class)
                .execute(
                        "CREATE TABLE item (id VARCHAR(100), CONSTRAINT one UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)");
        return app;
    }

    @Test
    @DisplayName("D16 duplicates of a running transactional handler take no connection from their neighbours")
    void duplicates() throws Exception {
        running = new CountDownLatch(1);
        goOn = new CountDownLatch(1);
        try (RunningSample app =
                postgres("--spring.datasource.hikari.maximum-pool-size=3", "--onlyonce.wait-max=60s")) {
            CompletableFuture<HttpResponse<String>> first = app.begin("/slow", id, "{}");
            assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
            List<CompletableFuture<HttpResponse<String>>> duplicates = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                duplicates.add(app.begin("/slow", id, "{}"));
            }
            assertThat(app.post("/slow", id, "{\"another\":1}").statusCode()).isEqualTo(422);
            for (int i = 0; i < 10; i++) {
                assertThat(app.post("/item?id=" + id + i, id + i, "{}").statusCode())
                        .isEqualTo(200);
            }
            assertThat(duplicates).as("wait").noneMatch(CompletableFuture::isDone);
            goOn.countDown();
            assertThat(first.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
            for (CompletableFuture<HttpResponse<String>> duplicate : duplicates) {
                HttpResponse<String> answer = duplicate.get(60, TimeUnit.SECONDS);
                assertThat(answer.statusCode()).isEqualTo(200);
                assertThat(isReplay(answer)).isTrue();
            }
        } finally {
            goOn.countDown();
        }
    }

    @Test
    @DisplayName("R2 D5 a constraint that is checked at the commit is the advice's to answer, and recorded")
    void deferredConstraint() {
        try (RunningSample app = postgres()) {
            assertThat(app.post("/item?id=7", "k1", "{}").statusCode()).isEqualTo(200);
            int before = RUNS.get();
            HttpResponse<String> refused = app.post("/item?id=7", "k2", "{}");
            assertThat(refused.statusCode()).isEqualTo(409);
            assertThat(refused.body()).isEqualTo("there already");
            HttpResponse<String> retry = app.post("/item?id=7", "k2", "{}");
            assertThat(retry.statusCode()).isEqualTo(409);
            assertThat(isReplay(retry)).isTrue();
            assertThat(RUNS.get() - before).isEqualTo(1);
        }
    }

    @Test
    @DisplayName("D5 D9 a handler whose transaction conflicts with another one is 503 with Retry-After; the retry runs")
    void conflict() {
        try (RunningSample app = postgres()) {
            int before = RUNS.get();
            for (int run = 1; run <= 2; run++) {
                HttpResponse<String> answer = app.post("/conflict", id, "{}");
                assertThat(answer.statusCode()).isEqualTo(503);
                assertThat(answer.headers().firstValue("Retry-After")).isPresent();
                assertThat(RUNS.get() - before).isEqualTo(run);
            }
            assertThat(app.bean(JdbcTemplate.class)
                            .queryForObject(
                                    "SELECT count(*) FROM onlyonce_entry WHERE fingerprint_version > 0", Long.class))
                    .as("entries")
                    .isZero();
        }
    }

    @Test
    @DisplayName("D11 a leased method whose caller's transaction is rolled back stays recorded, and the log says so")
    void outerRollback(CapturedOutput output) {
        try (RunningSample app = postgres()) {
            Outer outer = app.bean(Outer.class);
            assertThatThrownBy(() -> outer.undone(id)).hasMessage("after all");
            assertThat(output).contains("WARN").contains("was rolled back").contains("Transfer.leased");
            assertThat(output).doesNotContain(id);
            int before = RUNS.get();
            app.bean(Transfer.class).leased(id);
            assertThat(RUNS.get()).isEqualTo(before);
        }
    }

    @Test
    @DisplayName("D11 a leased method inside a SQLite transaction that has written is refused with the reason")
    void oneWriter() {
        String url = "jdbc:sqlite:" + folder.resolve("app.db") + "?journal_mode=WAL&synchronous=FULL&busy_timeout=500";
        try (RunningSample app = new RunningSample(App.class, url)) {
            app.bean(JdbcTemplate.class).execute("CREATE TABLE item (id VARCHAR(100))");
            int before = RUNS.get();
            assertThatThrownBy(() -> app.bean(Outer.class).written(id))
                    .hasMessageContaining("SQLite")
                    .hasMessageContaining("transaction");
            assertThat(RUNS.get()).isEqualTo(before);
        }
    }

    @RestController
    static class Items {
        private final JdbcTemplate jdbc;

        Items(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Idempotent(way = Way.TRANSACTIONAL)
        @Transactional
        @PostMapping("/slow")
        public String slow() throws InterruptedException {
            running.countDown();
            assertThat(goOn.await(60, TimeUnit.SECONDS)).isTrue();
            return "done";
        }

        @Idempotent(way = Way.TRANSACTIONAL)
        @Transactional
        @PostMapping("/item")
        public String item(@RequestParam String id) {
            RUNS.incrementAndGet();
            jdbc.update("INSERT INTO item VALUES (?)", id);
            return "placed";
        }

        @Idempotent(way = Way.TRANSACTIONAL)
        @Transactional
        @PostMapping("/conflict")
        public String conflict() {
            RUNS.incrementAndGet();
            jdbc.execute(
                    "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = 'could not serialize'; END $$");
            return "never";
        }
    }

    @RestControllerAdvice
    static class Advice {
        @ExceptionHandler
        ResponseEntity<String> there(DataIntegrityViolationException e) {
            return ResponseEntity.status(409).body("there already");
        }
    }

    @Component
    static class Transfer {
        @Idempotent(key = "#id", operation = "Transfer.leased", way = Way.LEASED)
        public String leased(String id) {
            RUNS.incrementAndGet();
            return "done";
        }
    }

    @Component
    static class Outer {
        private final Transfer transfer;
        private final JdbcTemplate jdbc;

        Outer(Transfer transfer, JdbcTemplate jdbc) {
            this.transfer = transfer;
            this.jdbc = jdbc;
        }

        @Transactional
        public void undone(String id) {
            transfer.leased(id);
            throw new IllegalStateException("after all");
        }

        @Transactional
        public void written(String id) {
            jdbc.update("INSERT INTO item VALUES (?)", id);
            transfer.leased(id);
        }
    }

    @SampleApplication
    @Import({Items.class, Advice.class, Transfer.class, Outer.class})
    static class App {
        @Bean
        TenantResolver tenants() {
            return request -> "acme";
        }
    }
}
