package dev.onlyonce.payments;

import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.db.Sql;
import dev.onlyonce.payments.domain.ApiKeys;
import dev.onlyonce.payments.domain.Transfers;
import java.sql.SQLException;
import java.util.List;

/** Two tenants with their API keys and accounts. What is there already stays as it is. */
final class DemoData {
    private static final long BALANCE = 1_000_000;
    private static final List<String> ACCOUNTS = List.of("current", "savings");

    private DemoData() {}

    static void create(Database database, ApiKeys keys, Transfers transfers) {
        for (String tenant : List.of("alice", "bob")) {
            keys.allow("test_" + tenant, tenant);
            database.transaction(sql -> open(transfers, sql, tenant));
        }
    }

    private static int open(Transfers transfers, Sql sql, String tenant) throws SQLException {
        for (String account : ACCOUNTS) {
            transfers.open(sql, tenant, new Transfers.Account(account, "EUR", BALANCE));
        }
        return ACCOUNTS.size();
    }
}
