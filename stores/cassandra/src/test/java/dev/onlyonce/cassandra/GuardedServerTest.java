package dev.onlyonce.cassandra;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.testservers.CassandraCluster;
import dev.onlyonce.testservers.TestAuthority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that wants TLS and a password. */
@DisplayName("Opening a store on a guarded Cassandra")
class GuardedServerTest {
    @TempDir
    static Path folder;

    private static TestAuthority authority;
    private static CassandraCluster guarded;

    @BeforeAll
    static void start() {
        authority = TestAuthority.in(folder);
        guarded = CassandraCluster.start(
                1,
                "authenticator: PasswordAuthenticator",
                "client_encryption_options: {enabled: true, optional: false, store_type: PKCS12, keystore: \""
                        + authority.store() + "\", keystore_password: " + TestAuthority.PASSWORD + "}");
    }

    @AfterAll
    static void stop() {
        guarded.close();
    }

    private static CassandraStore open(String url) {
        return CassandraStore.builder(url).credentials("cassandra", "cassandra").build();
    }

    private static String url(String settings) {
        return guarded.url("guarded") + "?replication=1" + settings;
    }

    @Test
    @DisplayName("works over TLS with the authority that issued the server's certificate")
    void right() {
        Calls.untilTaken(() -> {
            open(url("&ca=" + authority.ca())).close();
            return true;
        });
    }

    @Test
    @DisplayName("E2 whose certificate comes from another authority, or from one that this JVM does not trust, says so")
    void wrongAuthority(@TempDir Path elsewhere) {
        Path other = TestAuthority.in(elsewhere).ca();
        assertThatThrownBy(() -> open(url("&ca=" + other)))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining(
                        "over TLS (does that port speak TLS, and does its certificate come from an authority in "
                                + other + "?)")
                .hasMessageContaining("PKIX path");
        assertThatThrownBy(() -> open(url("&tls=true")))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("does this JVM trust its certificate?")
                .hasMessageContaining("PKIX path");
    }

    @Test
    @DisplayName("E2 without TLS says that the server may want it")
    void plain() {
        assertThatThrownBy(() -> open(url("")))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("(does that port want TLS? Then add tls=true or ca=)");
    }

    @Test
    @DisplayName("E2 with a file that has no certificates names it")
    void noAuthorities() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty.pem"), "");
        assertThatThrownBy(() -> open(url("&ca=" + empty)))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining(empty + " (ca=) cannot be read");
        assertThatThrownBy(() -> open(url("&ca=" + folder.resolve("none.pem"))))
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("NoSuchFileException");
    }

    @Test
    @DisplayName("E2 with wrong credentials is refused as such, without showing them")
    void wrongCredentials() {
        String url = url("&ca=" + authority.ca());
        assertThatThrownBy(() -> CassandraStore.builder(url)
                        .credentials("cassandra", "not-the-secret")
                        .build())
                .isInstanceOf(StoreUnavailable.class)
                .hasMessageContaining("refuses the user or the password")
                .hasMessageNotContaining("not-the-secret");
        assertThatThrownBy(() -> CassandraStore.open(url)).isInstanceOf(StoreUnavailable.class);
        String wide = guarded.url("wide") + "?ca=" + authority.ca();
        assertThatThrownBy(() -> Calls.untilAnswered(() -> open(wide)))
                .isInstanceOf(StoreRejected.class)
                .hasMessageContaining("has 1 nodes, too few for 3 replicas")
                .hasMessageContaining("replication=1");
    }
}
