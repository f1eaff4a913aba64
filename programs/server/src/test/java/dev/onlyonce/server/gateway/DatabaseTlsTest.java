package dev.onlyonce.server.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.server.config.StoreSettings;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.DatabaseServer;
import dev.onlyonce.testservers.MySqlServer;
import dev.onlyonce.testservers.PostgresServer;
import dev.onlyonce.testservers.TestAuthority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A database server whose certificate comes from an authority that only its users know. */
@DisplayName("A gateway's database over TLS")
class DatabaseTlsTest {
    @TempDir
    static Path folder;

    private static TestAuthority authority;
    private static Path otherCa;

    @BeforeAll
    static void certificates() throws IOException {
        authority = TestAuthority.in(folder);
        otherCa =
                TestAuthority.in(Files.createDirectory(folder.resolve("other"))).ca();
        // PostgreSQL refuses a key that others can read.
        Files.setPosixFilePermissions(authority.key(), PosixFilePermissions.fromString("rw-------"));
    }

    private static OpenStore open(String url) {
        return OpenStore.open(
                new StoreSettings(
                        url, null, null, SchemaMode.CREATE, null, AuditLevel.ALL, StoreSettings.AUDIT_RETENTION),
                folder);
    }

    /** What the settings of the URL do, with the file of authorities at the end of them. */
    private static void checkAuthorities(String url) throws IOException {
        try (OpenStore right = open(url + authority.ca())) {
            assertThat(right.store().find(List.of())).isEmpty();
            right.store().checkWritable();
        }
        assertThatThrownBy(() -> open(url + otherCa))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("cannot be reached")
                .hasMessageContaining("PKIX path");
        Path missing = folder.resolve("missing.pem");
        assertThatThrownBy(() -> open(url + missing))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining(missing.toString());
        Path garbage = Files.writeString(folder.resolve("garbage.pem"), "no certificate");
        assertThatThrownBy(() -> open(url + garbage))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining(garbage.toString());
    }

    @Test
    @DisplayName("E2 PostgreSQL is used with the authority in the URL; another one, or none, is named at start-up")
    void postgres() throws IOException {
        try (DatabaseServer server = PostgresServer.start(
                "ssl=on", "ssl_cert_file=" + authority.certificate(), "ssl_key_file=" + authority.key())) {
            checkAuthorities(server.createDatabase() + "&sslmode=verify-full&sslrootcert=");
        }
    }

    @Test
    @DisplayName("E2 MySQL is used with the authority in the URL; another one, or none, is named at start-up")
    void mySql() throws IOException {
        try (DatabaseServer server = MySqlServer.start(
                "tls-version=TLSv1.3",
                "ssl-ca=" + authority.ca(),
                "ssl-cert=" + authority.certificate(),
                "ssl-key=" + authority.key(),
                "require-secure-transport=ON")) {
            checkAuthorities(server.jdbcUrl("mysql") + "&sslMode=verify-full&serverSslCert=");
        }
    }
}
