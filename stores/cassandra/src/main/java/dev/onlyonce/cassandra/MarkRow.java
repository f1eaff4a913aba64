package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreMark;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.util.List;
import java.util.Optional;

/**
 * The row in the table of entries that shows that these are the tables they were, see {@link StoreMark}: made by whoever creates them.
 */
record MarkRow(Link link) {
    /** Entries have a tenant; their records are random or nil. */
    private static final String KEY =
            "tenant = '' AND scope = '' AND key = 'onlyonce store' AND record = 00000000-0000-0000-0000-000000000001";

    private static final String SET = "UPDATE entry SET who = ? WHERE " + KEY;

    /** Reads it. */
    Optional<StoreMark> read() {
        List<Row> rows = link.rows(Statements.of("SELECT who FROM entry WHERE " + KEY, link.level()));
        String mark = rows.isEmpty() ? null : rows.get(0).getString("who");
        return mark == null ? Optional.empty() : StoreMark.of(mark);
    }

    /** Marks tables that were just created. If several nodes do, the first one's stays. */
    void create() {
        try {
            var unused = everywhere()
                    .transaction(SimpleStatement.newInstance(
                            SET + " IF who = null", StoreMark.fresh().text()))
                    .join();
        } catch (RuntimeException e) {
            StoreException failure = Failures.ofWrite(e);
            if (!(failure instanceof StoreOutcomeUnknown)) {
                throw failure;
            }
        }
    }

    /** Writes it, whatever is there. */
    void write(StoreMark mark) {
        try {
            // As a transaction: it is later than one that is not ended yet.
            var unused = everywhere()
                    .transaction(SimpleStatement.newInstance(SET + " IF who != ?", mark.text(), mark.text()))
                    .join();
        } catch (RuntimeException e) {
            throw Failures.ofWrite(e);
        }
    }

    private Link everywhere() {
        return new Link(link.session(), ConsistencyLevel.QUORUM, ConsistencyLevel.SERIAL);
    }
}
