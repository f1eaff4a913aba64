package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("PostgreSQL for tests")
class PostgresServerTest implements DatabaseServerContract {
    @Override
    public DatabaseServer shared() {
        return PostgresServer.shared();
    }

    @Override
    public DatabaseServer start(Path home) {
        return PostgresServer.start(home);
    }

    @Override
    public String program() {
        return "postgres";
    }

    @Test
    @DisplayName("commits are durable on a server of one's own; the shared one does not wait for the disk")
    void durable(@TempDir Path home) throws SQLException {
        String settings = "SELECT current_setting('synchronous_commit'), current_setting('fsync'),"
                + " current_setting('full_page_writes')";
        try (DatabaseServer own = start(home)) {
            assertThat(DatabaseServerContract.query(own.createDatabase(), settings))
                    .isEqualTo("on,on,on");
        }
        assertThat(DatabaseServerContract.query(shared().createDatabase(), settings))
                .isEqualTo("on,off,off");
    }

    @Test
    @DisplayName("a setting of the caller wins; a wrong one fails at once with the server's own words")
    void settings() throws SQLException {
        try (DatabaseServer server = PostgresServer.start("max_connections=7")) {
            assertThat(DatabaseServerContract.query(server.jdbcUrl("postgres"), "SHOW max_connections"))
                    .isEqualTo("7");
        }
        assertThatThrownBy(() -> PostgresServer.start("no_such_setting=1"))
                .hasMessageContaining("unrecognized configuration parameter \"no_such_setting\"");
    }
}
