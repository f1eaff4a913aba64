package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

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
    @DisplayName("commits are durable")
    void durable() throws SQLException {
        assertThat(DatabaseServerContract.query(
                        shared().createDatabase(), "SELECT @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite"))
                .isIn("1,ON", "1,1");
    }
}
