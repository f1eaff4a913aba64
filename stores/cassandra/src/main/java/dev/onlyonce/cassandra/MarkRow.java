package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreMark;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The row in the table of entries by which a store recognises the tables that it knew, see {@link StoreMark}. Whoever creates the tables
 * writes it.
 */
record MarkRow(Link link) {
    /** Entries have a tenant; their records are random or nil. */
    private static final String KEY =
            "tenant = '' AND scope = '' AND key = 'onlyonce store' AND record = 00000000-0000-0000-0000-000000000001";

    private static final String SET = "UPDATE entry SET who = ? WHERE " + KEY;

    private static final int TRIES_MAX = 10;
    private static final Logger log = LoggerFactory.getLogger(MarkRow.class);

    /** Reads it. */
    Optional<StoreMark> read() {
        List<Row> rows = link.rows(Statements.of("SELECT who FROM entry WHERE " + KEY, link.level()));
        String mark = rows.isEmpty() ? null : rows.get(0).getString("who");
        return mark == null ? Optional.empty() : StoreMark.of(mark);
    }

    /**
     * Marks tables that are being created. If several nodes do, the first one's stays. Tables without a mark are refused for good, so a
     * transaction that nobody knows the end of is repeated.
     */
    void create() {
        for (int tries = 1; !isCreated(tries == TRIES_MAX); tries++) {
            log.info("Whether the new tables have their mark is not known yet");
        }
    }

    private boolean isCreated(boolean isLast) {
        try {
            var unused = everywhere()
                    .transaction(SimpleStatement.newInstance(
                            SET + " IF who = null", StoreMark.fresh().text()))
                    .join();
            return true;
        } catch (RuntimeException e) {
            StoreException failure = Failures.ofWrite(e);
            if (isLast || !(failure instanceof StoreOutcomeUnknown)) {
                throw failure;
            }
            return false;
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
