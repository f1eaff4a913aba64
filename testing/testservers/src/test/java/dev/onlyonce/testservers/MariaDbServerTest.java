package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("MariaDB for tests")
class MariaDbServerTest implements DatabaseServerContract {
    @Override
    public DatabaseServer shared() {
        return MariaDbServer.shared();
    }

    @Override
    public DatabaseServer start(Path home) {
        return MariaDbServer.start(home);
    }

    @Override
    public String program() {
        return "mariadbd";
    }

    @Test
    @DisplayName("commits are durable on a server of one's own; the shared one does not wait for the disk")
    void durable(@TempDir Path home) throws SQLException {
        String settings = "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite";
        try (DatabaseServer own = start(home)) {
            assertThat(DatabaseServerContract.query(own.createDatabase(), settings))
                    .isIn("1,ON", "1,1");
        }
        assertThat(DatabaseServerContract.query(shared().createDatabase(), settings))
                .isIn("2,OFF", "2,0");
    }
}
