package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.testservers.MariaDbServer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Transactions on MariaDB, or MySQL at a URL from outside")
final class MariaDbTransactionsTest extends TransactionsContract {
    private static HikariDataSource dataSource;

    @BeforeAll
    static void connect() {
        dataSource = Pools.open(MariaDbServer.shared().createDatabase(), 20);
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
        return "SELECT @@SESSION.innodb_lock_wait_timeout";
    }
}
