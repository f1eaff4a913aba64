package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.testservers.PostgresServer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Transactions on PostgreSQL")
final class PostgresTransactionsTest extends TransactionsContract {
    private static HikariDataSource dataSource;

    @BeforeAll
    static void connect() {
        dataSource = Pools.open(PostgresServer.shared().createDatabase(), 20);
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
        return "SHOW lock_timeout";
    }
}
