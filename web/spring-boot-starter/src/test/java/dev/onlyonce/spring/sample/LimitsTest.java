package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.PostgresServer;
import dev.onlyonce.testservers.SqliteFile;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LimitsTest {
    @TempDir
    static Path folder;

    @Test
    @DisplayName("S3 a tenant that uses new keys too fast gets 429 with Retry-After, and its retries still get answers")
    void newKeys() {
        String database = SqliteFile.in(folder).jdbcUrl();
        try (RunningSample app = new RunningSample(database, "--onlyonce.limits.new-keys-per-second=1")) {
            HttpResponse<String> first = app.post("/refused", "k-1", "{}");
            HttpResponse<String> limited = null;
            for (int i = 2; limited == null || limited.statusCode() != 429; i++) {
                limited = app.post("/refused", "k-" + i, "{}");
                assertThat(i).as("keys until the limit").isLessThan(1000);
            }
            assertThat(limited.body()).contains("too_many_keys");
            assertThat(limited.headers().firstValue("Retry-After")).hasValue("1");
            assertThat(app.post("/refused", "k-1", "{}").body()).isEqualTo(first.body());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/held", "/held-transactional"})
    @DisplayName("S3 a burst of requests runs no more of them at once than live-max, and the end of those makes room")
    void burst(String path) throws Exception {
        int burst = 40;
        int live = 3;
        try (RunningSample app =
                new RunningSample(PostgresServer.shared().createDatabase(), "--onlyonce.limits.live-max=" + live)) {
            List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
            CountDownLatch refused = new CountDownLatch(burst - live);
            for (int i = 0; i < burst; i++) {
                sent.add(app.begin(path, "k-" + i, "{}").whenComplete((answer, failure) -> refused.countDown()));
            }
            boolean limited = refused.await(30, TimeUnit.SECONDS);
            app.bean(SampleApp.class).held.countDown();
            Map<Integer, Integer> answers = new TreeMap<>();
            for (CompletableFuture<HttpResponse<String>> answer : sent) {
                answers.merge(answer.get(60, TimeUnit.SECONDS).statusCode(), 1, Integer::sum);
            }
            assertThat(answers).isEqualTo(Map.of(201, live, 429, burst - live));
            assertThat(limited).as("refused while the others ran").isTrue();
            for (int i = 0; i < 2 * live; i++) {
                assertThat(app.post(path, "next-" + i, "{}").statusCode()).isEqualTo(201);
            }
        }
    }
}
