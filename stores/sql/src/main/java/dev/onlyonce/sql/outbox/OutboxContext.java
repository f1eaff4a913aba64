package dev.onlyonce.sql.outbox;

import dev.onlyonce.Event;
import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.entries.H2;
import dev.onlyonce.sql.internal.entries.MySql;
import dev.onlyonce.sql.internal.entries.Postgres;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.sql.internal.entries.Sqlite;
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

    SqlDialect database() {
        return access.database();
    }

    LastingCalls lasting() {
        return new LastingCalls(database());
    }

    DueRows due() {
        return new DueRows(database(), table);
    }

    Connections connections() {
        return access.connections();
    }

    /** Reads outside of a transaction. */
    <T> T read(Connections.Work<T> work) {
        return connections().read(c -> database().bounded(c, work));
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
