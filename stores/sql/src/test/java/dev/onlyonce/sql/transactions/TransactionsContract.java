package dev.onlyonce.sql.transactions;

import dev.onlyonce.sql.DatabaseContract;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.sql.TestDatabase;
import dev.onlyonce.sql.Ways;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The transactional way, the same on every database. The tests are in the chapters. */
abstract class TransactionsContract extends DatabaseContract
        implements TransactionsCommitChapter, TransactionsRaceChapter, TransactionsRecordChapter {
    private SqlStore store;
    private Transactions transactions;

    TransactionsContract(TestDatabase database) {
        super(database);
    }

    @BeforeEach
    final void create() {
        store = SqlStore.open(dataSource());
        transactions = Ways.transactions(store, POLICY);
        SqlClock.execute(
                dataSource(),
                "DELETE FROM onlyonce_entry WHERE fingerprint_version > 0",
                "DELETE FROM onlyonce_audit",
                "DROP TABLE IF EXISTS effect",
                "CREATE TABLE effect (id INTEGER NOT NULL)");
    }

    @AfterEach
    final void close() {
        store.close();
    }

    @Override
    public final SqlStore store() {
        return store;
    }

    @Override
    public final Transactions transactions() {
        return transactions;
    }
}
