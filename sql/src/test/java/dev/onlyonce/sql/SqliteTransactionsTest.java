package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Transactions on SQLite")
final class SqliteTransactionsTest extends TransactionsContract {
    @TempDir
    private static Path folder;

    private static HikariDataSource dataSource;

    @BeforeAll
    static void connect() {
        dataSource = Pools.open(
                "jdbc:sqlite:" + folder.resolve("entries.db") + "?journal_mode=WAL&synchronous=FULL&busy_timeout=20000",
                20);
    }

    @AfterAll
    static void disconnect() {
        dataSource.close();
    }

    @Override
    public DataSource dataSource() {
        return dataSource;
    }

    @Override
    public String lockWait() {
        return "PRAGMA busy_timeout";
    }
}
