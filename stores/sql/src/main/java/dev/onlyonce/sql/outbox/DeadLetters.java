package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.entries.AuditTable;
import dev.onlyonce.store.AuditText;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What operators do with dead letters. The audit of the entry records it, in the same transaction. */
final class DeadLetters {
    private static final Logger log = LoggerFactory.getLogger(DeadLetters.class);

    private final OutboxContext context;

    DeadLetters(OutboxContext context) {
        this.context = context;
    }

    /** See {@link Outbox#retry}. */
    boolean retry(long id, String who, String reason) {
        boolean changed = operate(
                id,
                who,
                "dead letter to be tried again: " + reason,
                c -> context.table().retry(c, id));
        log.info("Dead letter {} to be tried again: {}, by {}: {}", id, changed, who, reason);
        return changed;
    }

    /** See {@link Outbox#drop}. */
    boolean drop(long id, String who, String reason) {
        List<OutboxRow> letter = context.read(c -> context.table().listDead(c, id - 1, 1));
        boolean changed = operate(
                id, who, "dead letter dropped: " + reason, c -> context.table().drop(c, id));
        if (changed) {
            new NextInLine(context).call(DeliveryOrder.of(letter.stream().filter(row -> row.id() == id)));
        }
        log.info("Dead letter {} dropped: {}, by {}: {}", id, changed, who, reason);
        return changed;
    }

    private boolean operate(long id, String who, String why, Connections.Work<Boolean> change) {
        AuditTable audit = new AuditTable(context.database());
        return context.connections()
                .transaction(transaction -> context.database().bounded(transaction, c -> {
                    audit.operated(c, id, AuditText.who(who), AuditText.why(why));
                    boolean changed = change.run(c);
                    if (!changed) {
                        c.rollback();
                    }
                    return changed;
                }));
    }
}
