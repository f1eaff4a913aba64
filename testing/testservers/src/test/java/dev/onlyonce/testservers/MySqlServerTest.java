package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("MySQL for tests")
class MySqlServerTest implements DatabaseServerContract {
    @Override
    public DatabaseServer shared() {
        return MySqlServer.shared();
    }

    @Override
    public DatabaseServer start(Path home) {
        return MySqlServer.start(home);
    }

    @Override
    public String program() {
        return "mysqld";
    }

    @Test
    @DisplayName("commits are durable on a server of one's own; the shared one does not wait for the disk")
    void durable(@TempDir Path home) throws SQLException {
        String settings = "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite";
        try (DatabaseServer own = start(home)) {
            assertThat(DatabaseServerContract.query(own.createDatabase(), settings))
                    .isEqualTo("1,ON");
        }
        assertThat(DatabaseServerContract.query(shared().createDatabase(), settings))
                .isEqualTo("2,OFF");
    }

    @Test
    @DisplayName("it is MySQL 8, through MySQL's driver and through MariaDB's")
    void drivers() throws SQLException {
        String url = shared().createDatabase();
        assertThat(url).startsWith("jdbc:mysql:");
        assertThat(DatabaseServerContract.query(url, "SELECT VERSION()"))
                .startsWith("8.")
                .doesNotContain("MariaDB");
        String mariaDb = url.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
        assertThat(DatabaseServerContract.query(mariaDb, "SELECT VERSION()")).startsWith("8.");
    }

    @Test
    @DisplayName("each server has an identity of its own, though all start from one copy")
    void identity(@TempDir Path home) throws SQLException {
        try (DatabaseServer other = start(home)) {
            String mine = DatabaseServerContract.query(shared().createDatabase(), "SELECT @@server_uuid");
            assertThat(DatabaseServerContract.query(other.createDatabase(), "SELECT @@server_uuid"))
                    .isNotEqualTo(mine);
        }
    }
}
