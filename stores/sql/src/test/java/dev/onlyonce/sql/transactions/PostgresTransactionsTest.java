package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Transactions on PostgreSQL")
final class PostgresTransactionsTest extends TransactionsContract {
    PostgresTransactionsTest() {
        super(TestDatabase.POSTGRES);
    }

    @Override
    public String lockWait() {
        return "SHOW lock_timeout";
    }
}
