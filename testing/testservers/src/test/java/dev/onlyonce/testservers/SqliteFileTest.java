package dev.onlyonce.testservers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.SQLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A SQLite file for tests")
class SqliteFileTest {
    @Test
    @DisplayName("keeps rows between connections, apart from other files")
    void rows(@TempDir Path folder) throws SQLException {
        SqliteFile one = SqliteFile.in(folder);
        SqliteFile two = SqliteFile.in(folder);
        DatabaseServerContract.execute(one.jdbcUrl(), "CREATE TABLE t (a INT)");
        DatabaseServerContract.execute(one.jdbcUrl(), "INSERT INTO t VALUES (1)");
        assertThat(DatabaseServerContract.query(one.jdbcUrl(), "SELECT a FROM t"))
                .isEqualTo("1");
        DatabaseServerContract.execute(two.jdbcUrl(), "CREATE TABLE t (a INT)");
    }
}
