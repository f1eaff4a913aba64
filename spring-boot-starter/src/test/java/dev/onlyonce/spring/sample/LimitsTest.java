package dev.onlyonce.spring.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.SqliteFile;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
}
