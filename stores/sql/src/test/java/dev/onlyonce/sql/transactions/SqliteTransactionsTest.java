package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Transactions on SQLite")
final class SqliteTransactionsTest extends TransactionsContract {
    SqliteTransactionsTest() {
        super(TestDatabase.SQLITE);
    }

    @Override
    public String lockWait() {
        return "PRAGMA busy_timeout";
    }

    @Override
    public boolean locksRows() {
        return false;
    }
}
