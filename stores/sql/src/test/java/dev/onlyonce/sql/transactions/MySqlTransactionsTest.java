package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Transactions on MySQL")
final class MySqlTransactionsTest extends TransactionsContract {
    MySqlTransactionsTest() {
        super(TestDatabase.MYSQL);
    }

    @Override
    public String lockWait() {
        return "SELECT CONCAT(@@SESSION.innodb_lock_wait_timeout, ' ', @@SESSION.lock_wait_timeout)";
    }
}
