package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Transactions on H2 in a file, in PostgreSQL mode")
final class H2PostgresModeTransactionsTest extends TransactionsContract {
    H2PostgresModeTransactionsTest() {
        super(TestDatabase.H2_POSTGRES_MODE);
    }

    @Override
    public String lockWait() {
        return "SELECT LOCK_TIMEOUT()";
    }
}
