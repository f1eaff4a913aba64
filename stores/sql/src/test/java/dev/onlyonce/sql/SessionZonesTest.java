package dev.onlyonce.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Entry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("Session time zones")
final class SessionZonesTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "POSTGRES | SET TIME ZONE 'Pacific/Kiritimati' | SET TIME ZONE 'Pacific/Niue'",
                "MARIADB | SET time_zone = '+13:00' | SET time_zone = '-11:00'",
                "MYSQL | SET time_zone = '+13:00' | SET time_zone = '-11:00'",
                "H2 | SET TIME ZONE 'Pacific/Kiritimati' | SET TIME ZONE 'Pacific/Niue'"
            })
    @DisplayName("T5 do not matter: nodes a day apart agree on leases, and all times are UTC")
    void farApart(TestDatabase database, String east, String west) {
        String url = database.url(folder);
        try (HikariDataSource first = pool(url, east);
                HikariDataSource second = pool(url, west)) {
            SqlStore ahead = SqlStore.open(first);
            SqlStore behind = SqlStore.open(second);
            ClaimRequest claim = Claims.claim("key");
            ahead.claim(List.of(claim));
            assertThat(behind.sweep(10)).isEmpty();
            assertThat(ahead.sweep(10)).isEmpty();
            assertThat(behind.claim(List.of(Claims.claim("key"))))
                    .singleElement()
                    .isInstanceOf(ClaimResult.Existing.class);
            Entry entry = behind.find(List.of(claim.id())).get(0).orElseThrow();
            assertThat(entry.leaseLeft()).isBetween(Duration.ofSeconds(1), Claims.LEASE);
            assertThat(entry.createdAt()).isCloseTo(Instant.now(), within(10, ChronoUnit.MINUTES));
            assertThat(Duration.between(entry.createdAt(), entry.leaseUntil())).isEqualTo(Claims.LEASE);
        }
    }

    private static HikariDataSource pool(String url, String init) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(2);
        config.setConnectionInitSql(init);
        return new HikariDataSource(config);
    }
}
