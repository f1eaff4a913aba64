package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.Listener;
import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.sql.entries.Database;
import dev.onlyonce.sql.entries.MySql;
import dev.onlyonce.sql.entries.Sealing;
import dev.onlyonce.sql.entries.Sqlite;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the parts of an outbox share. */
record OutboxContext(
        Database database, Calls calls, OutboxTable table, Sealing sealing, OutboxSettings settings, Waiters waiters) {
    private static final Logger log = LoggerFactory.getLogger(Outbox.class);

    /** How a transaction begins that takes rows. */
    List<String> begin() {
        return switch (database.kind()) {
            case POSTGRESQL -> List.of("BEGIN");
            case MYSQL -> MySql.BEGIN_SCAN;
            case SQLITE -> Sqlite.BEGIN;
        };
    }

    void tell(Event event) {
        for (Listener listener : settings.listeners()) {
            try {
                listener.on(event);
            } catch (Throwable e) {
                log.error("A listener failed", e);
            }
        }
    }
}
