package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A server given by URL")
class ServerUrlTest {
    @Test
    @DisplayName("keeps its host and parameters when the database is exchanged")
    void parts() {
        ServerUrl url = ServerUrl.of("jdbc:postgresql://db.example:5432/postgres?user=u&password=p/?");
        assertThat(url.with("other")).isEqualTo("jdbc:postgresql://db.example:5432/other?user=u&password=p/?");
        assertThat(ServerUrl.of("jdbc:mysql://h").with("x")).isEqualTo("jdbc:mysql://h/x");
    }

    @Test
    @DisplayName("is refused without its text, which may hold a password, when it has another form")
    void malformed() {
        assertThatThrownBy(() -> ServerUrl.of("postgres://me:secret@host/db"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("secret");
    }

    @Test
    @DisplayName("gets databases, which are dropped in the end, but is never stopped")
    void outside() throws SQLException {
        String url = PostgresServer.shared().createDatabase();
        String name;
        try (DatabaseServer server = DatabaseServer.outside(ServerUrl.of(url))) {
            String created = server.createDatabase();
            assertThat(DatabaseServerContract.query(created, "SELECT 1")).isEqualTo("1");
            name = ServerUrl.of(created).database();
            assertThatThrownBy(server::kill).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(server::stop).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(server::restart).isInstanceOf(UnsupportedOperationException.class);
        }
        String databases = "SELECT count(*) FROM pg_database WHERE datname = '%s'";
        assertThat(DatabaseServerContract.query(url, databases.formatted(name))).isEqualTo("0");
    }
}
