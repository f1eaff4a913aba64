package dev.onlyonce.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.server.config.ConfigFile;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.testservers.RedisServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("A gateway's audit")
class AuditRetentionTest {
    private static final Key KEY = Key.of("acme", "POST /payments", "order-1");
    private static final Fingerprint REQUEST = Fingerprint.of("request".getBytes(StandardCharsets.UTF_8));

    @TempDir
    private Path folder;

    @Test
    @DisplayName("S2 is kept for as long as store.audit-retention says")
    void configured() throws Exception {
        withGateway("audit-retention: 30d", AuditRetentionTest::outlives);
    }

    @ParameterizedTest
    @CsvSource({"audit: all, 2", "audit: exceptions, 0"})
    @DisplayName("S2 store.audit says whether the record of an ordinary life outlives its entry")
    void level(String setting, int records) throws Exception {
        withGateway(setting, (once, data) -> {
            assertThat(once.execute(KEY, REQUEST, Codec.text(), claim -> "paid"))
                    .isInstanceOf(Outcome.Executed.class);
            assertThat(once.operator().history(KEY)).hasSize(2);
            change(
                    data,
                    "UPDATE onlyonce_entry SET expires_at = 1, purge_at = 1, reap_at = 1 WHERE fingerprint_version > 0");
            once.operator().purge();
            assertThat(once.find(KEY)).isEmpty();
            assertThat(once.operator().history(KEY)).hasSize(records);
        });
    }

    @ParameterizedTest
    @CsvSource({"audit: all, 1", "audit: exceptions, 0"})
    @DisplayName("S2 store.audit counts for a store that is opened by its URL, too")
    void levelByUrl(String setting, int recorded) throws Exception {
        try (RedisServer server = RedisServer.start()) {
            Settings settings = settings("url: \"" + server.url() + "?partitions=1\", " + setting);
            try (OpenStore store = OpenStore.open(settings.store(), settings.data());
                    Onlyonce once = Onlyonce.builder(store.store()).build()) {
                assertThat(once.execute(KEY, REQUEST, Codec.text(), claim -> "paid"))
                        .isInstanceOf(Outcome.Executed.class);
                assertThat(once.operator().history(KEY)).hasSize(2);
                assertThat(server.command("EXISTS", "onlyonce:{0}:audited")).isEqualTo(":" + recorded);
            }
        }
    }

    @FunctionalInterface
    private interface Scenario {
        void run(Onlyonce once, Path data) throws Exception;
    }

    private Settings settings(String setting) throws Exception {
        return ConfigFile.read(Files.writeString(folder.resolve("gateway.yaml"), """
                listen: {host: 127.0.0.1, port: 0, drain-grace: 0s}
                admin: {port: 0}
                upstreams: [{url: http://127.0.0.1:1}]
                store: {%s}
                """.formatted(setting)));
    }

    private void withGateway(String setting, Scenario scenario) throws Exception {
        Settings settings = settings(setting);
        try (OpenStore store = OpenStore.open(settings.store(), settings.data())) {
            Gateway gateway = Gateway.start(settings, store.store());
            try {
                scenario.run(gateway.once(), settings.data());
            } finally {
                gateway.drain();
            }
        }
    }

    private static void outlives(Onlyonce once, Path data) throws Exception {
        assertThatThrownBy(() -> once.execute(KEY, REQUEST, Codec.text(), claim -> {
                    throw new IllegalStateException("no answer");
                }))
                .isInstanceOf(IllegalStateException.class);
        age(data, Duration.ofDays(29));
        once.operator().purge();
        assertThat(once.operator().history(KEY)).hasSize(2);
        age(data, Duration.ofDays(1));
        once.operator().purge();
        assertThat(once.operator().history(KEY)).isEmpty();
        assertThat(once.find(KEY)).isPresent();
    }

    /** Makes the records look older: the database's clock cannot be set. */
    private static void age(Path data, Duration by) throws Exception {
        change(data, "UPDATE onlyonce_audit SET at = at - " + by.toMillis() * 1000);
    }

    private static void change(Path data, String sql) throws Exception {
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + data.resolve("onlyonce.db"));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
