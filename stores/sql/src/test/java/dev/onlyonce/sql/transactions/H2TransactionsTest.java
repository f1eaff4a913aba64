package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Transactions on H2 in memory")
final class H2TransactionsTest extends TransactionsContract {
    H2TransactionsTest() {
        super(TestDatabase.H2);
    }

    @Override
    public String lockWait() {
        return "SELECT LOCK_TIMEOUT()";
    }
}
