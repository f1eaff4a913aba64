package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.internal.connections.Transaction;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the next rows of lines due, after the end of the ones before them is committed: a worker that looked earlier has put them
 * off. It waits for such a worker's lock. If it fails, the rows are due again by themselves: see {@link DueRows}.
 */
final class NextInLine {
    private static final Logger log = LoggerFactory.getLogger(NextInLine.class);

    private final OutboxContext context;

    NextInLine(OutboxContext context) {
        this.context = context;
    }

    /** Never throws {@link StoreException}. */
    void call(List<DeliveryOrder> lines) {
        if (lines.isEmpty()) {
            return;
        }
        try {
            next(lines, true);
        } catch (StoreBusy e) {
            // Somebody has locked a row of one line; that must not hold up the others.
            log.debug("{} lines do not go on together", lines.size(), e);
            lines.forEach(this::callAlone);
        } catch (StoreException e) {
            log.warn("{} lines go on later: {}", lines.size(), e.getMessage());
        }
    }

    private void callAlone(DeliveryOrder line) {
        try {
            next(List.of(line), false);
        } catch (StoreException e) {
            log.warn("The rows with one order key of topic {} go on later: {}", line.topic(), e.getMessage());
        }
    }

    private void next(List<DeliveryOrder> lines, boolean patient) {
        // It reads first: SQLite would refuse to write on what it has read, once another has written.
        context.connections()
                .write(connection -> Transaction.run(
                        connection,
                        context.begin(),
                        transaction -> context.bounds()
                                .run(transaction, patient, c -> context.due().next(c, lines))));
    }
}
