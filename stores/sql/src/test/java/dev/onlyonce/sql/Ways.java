package dev.onlyonce.sql;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.Policy;
import dev.onlyonce.sql.transactions.Transactions;
import dev.onlyonce.testkit.ManualTime;

/** Ways to execute on a store, for tests that need no background work: there is nothing to close. */
public final class Ways {
    private Ways() {}

    /** The transactional way, under the standard policy. */
    public static Transactions transactions(SqlStore store) {
        return transactions(store, Policy.standard());
    }

    /** The transactional way, under this policy for {@code POST /payments}. */
    public static Transactions transactions(SqlStore store, Policy policy) {
        return Transactions.of(Onlyonce.builder(store)
                .time(new ManualTime())
                .operation("POST /payments", policy)
                .build());
    }
}
