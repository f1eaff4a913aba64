package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.sql.connections.Calls;
import dev.onlyonce.sql.entries.Database;
import dev.onlyonce.sql.entries.H2;
import dev.onlyonce.sql.entries.MySql;
import dev.onlyonce.sql.entries.Postgres;
import dev.onlyonce.sql.entries.Sealing;
import dev.onlyonce.sql.entries.SqlAccess;
import dev.onlyonce.sql.entries.Sqlite;
import java.util.List;

/** What the parts of an outbox share. */
record OutboxContext(SqlAccess access, OutboxTable table, LockBounds bounds, OutboxSettings settings, Waiters waiters) {

    OutboxContext(SqlAccess access, OutboxSettings settings) {
        this(
                access,
                new OutboxTable(access.database(), access.sealing()),
                new LockBounds(access.database().kind()),
                settings,
                new Waiters());
    }

    Database database() {
        return access.database();
    }

    LastingCalls lasting() {
        return new LastingCalls(database());
    }

    DueRows due() {
        return new DueRows(database(), table);
    }

    Calls calls() {
        return access.calls();
    }

    /** Reads outside of a transaction. */
    <T> T read(Calls.Work<T> work) {
        return calls().read(c -> database().bounded(c, work));
    }

    Sealing sealing() {
        return access.sealing();
    }

    /** How a transaction begins that takes rows. */
    List<String> begin() {
        return switch (database().kind()) {
            case POSTGRESQL -> Postgres.BEGIN_BOUNDED;
            case MYSQL -> MySql.BEGIN_SCAN;
            case SQLITE -> Sqlite.BEGIN;
            case H2 -> H2.BEGIN;
        };
    }

    void publish(Event event) {
        settings.registry().publish(event);
    }
}
