package dev.onlyonce.sql;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.H2Check;
import dev.onlyonce.sql.internal.connections.MySqlCheck;
import dev.onlyonce.sql.internal.connections.Pool;
import dev.onlyonce.sql.internal.connections.SettingsCheck;
import dev.onlyonce.sql.internal.connections.SourceCheck;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.SqliteConnections;
import dev.onlyonce.sql.internal.entries.H2;
import dev.onlyonce.sql.internal.entries.MarkRow;
import dev.onlyonce.sql.internal.entries.MySql;
import dev.onlyonce.sql.internal.entries.Postgres;
import dev.onlyonce.sql.internal.entries.ScriptProbe;
import dev.onlyonce.sql.internal.entries.Sealing;
import dev.onlyonce.sql.internal.entries.SqlAccess;
import dev.onlyonce.sql.internal.entries.SqlDialect;
import dev.onlyonce.sql.internal.entries.Sqlite;
import dev.onlyonce.sql.schema.Schema;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.StoreGate;
import dev.onlyonce.store.StoreMark;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;

/** Finds out which database it is. */
public final class StoreOpening {
    /** Those with a network before them that may lose an answer. */
    private static final Set<SqlDatabase> SERVERS = EnumSet.of(SqlDatabase.POSTGRESQL, SqlDatabase.MYSQL);

    private StoreOpening() {}

    /**
     * How a store is opened.
     *
     * @param mode what to do about the tables
     * @param clock for tests: an SQL expression to use instead of the database's clock
     * @param sealing encrypts results
     * @param audit what the audit keeps
     */
    record Options(SchemaMode mode, Optional<String> clock, Sealing sealing, AuditLevel audit) {}

    static SqlStore open(DataSource dataSource, Options options) {
        SqlDatabase kind = kind(dataSource);
        SourceCheck.check(dataSource, kind);
        if (kind == SqlDatabase.H2) {
            H2Check.checkUrl(dataSource);
        }
        Connections connections = new Connections(new Pool(dataSource, SERVERS.contains(kind)), kind);
        SettingsCheck settings = new SettingsCheck(kind);
        connections.read(settings::run);
        prepare(kind, connections, options.mode);
        return store(
                new SqlAccess(database(kind, connections, options), connections, options.sealing),
                settings,
                options.mode);
    }

    private static SqlDialect database(SqlDatabase kind, Connections connections, Options options) {
        return switch (kind) {
            case POSTGRESQL ->
                new Postgres(
                        options.clock,
                        options.audit,
                        connections.read(ScriptProbe::run),
                        connections.read(Postgres::home));
            case H2 -> new H2(options.clock, options.audit, connections.read(H2::home));
            case MYSQL -> new MySql(options.clock, options.audit, connections.read(MySqlCheck::packetBytes));
            case SQLITE -> SqlDialect.of(kind, options.clock, options.audit);
        };
    }

    static SqlStore open(Path file, Options options) {
        Connections connections = new Connections(new SqliteConnections(file), SqlDatabase.SQLITE);
        try {
            prepare(SqlDatabase.SQLITE, connections, options.mode);
            return store(
                    new SqlAccess(new Sqlite(options.clock, options.audit), connections, options.sealing),
                    new SettingsCheck(SqlDatabase.SQLITE),
                    options.mode);
        } catch (RuntimeException e) {
            connections.close();
            throw e;
        }
    }

    /** With its gate, which looks at the database once more. */
    private static SqlStore store(SqlAccess access, SettingsCheck settings, SchemaMode mode) {
        Connections connections = access.connections();
        SqlDialect database = access.database();
        // The mark is read with the rest: a sweep of a quiet node should cost the database little.
        AtomicReference<Optional<Optional<StoreMark>>> seen = new AtomicReference<>(Optional.empty());
        Connections.Work<Optional<StoreMark>> look = c -> {
            settings.run(c);
            MarkRow.checkKey(c, database);
            return MarkRow.read(c, database);
        };
        StoreGate gate = new StoreGate(
                () -> seen.set(Optional.of(connections.read(c -> database.bounded(c, look)))),
                () -> seen.getAndSet(Optional.empty())
                        .orElseGet(() ->
                                connections.read(c -> database.bounded(c, bounded -> MarkRow.read(bounded, database)))),
                mark -> connections.transactionAnyway(c -> MarkRow.write(c, database, mark)));
        if (mode != SchemaMode.LEAVE) {
            // Otherwise there may be no tables.
            connections.read(c -> MarkRow.checkKey(c, database));
            gate.open();
            connections.guardBy(gate::check);
        }
        return new SqlStore(access, gate);
    }

    private static void prepare(SqlDatabase kind, Connections connections, SchemaMode mode) {
        Schema schema = new Schema(connections, kind);
        switch (mode) {
            case CREATE -> schema.apply();
            case VALIDATE -> schema.validate();
            case LEAVE -> {}
        }
    }

    static SqlDatabase kind(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseMetaData meta = connection.getMetaData();
            String product = meta.getDatabaseProductName();
            int major = meta.getDatabaseMajorVersion();
            int minor = meta.getDatabaseMinorVersion();
            return switch (product) {
                case "PostgreSQL" -> atLeast(14, 0, major, minor, SqlDatabase.POSTGRESQL);
                case "MySQL" -> atLeast(8, 0, major, minor, SqlDatabase.MYSQL);
                case "MariaDB" -> atLeast(10, 6, major, minor, SqlDatabase.MYSQL);
                case "SQLite" -> atLeast(3, 35, major, minor, SqlDatabase.SQLITE);
                case "H2" -> checked(connection, atLeast(2, 2, major, minor, SqlDatabase.H2));
                default ->
                    throw new StoreRejected(
                            "the database is " + product + " " + meta.getDatabaseProductVersion()
                                    + ", which is not supported. Entries can be kept in PostgreSQL, MySQL, MariaDB, SQLite"
                                    + " and H2. For tests, keep them in memory: onlyonce.store=memory with Spring Boot, else"
                                    + " a MemoryStore",
                            null);
            };
        } catch (SQLException e) {
            throw new StoreUnavailable(H2Check.explain(e), e);
        }
    }

    private static SqlDatabase checked(Connection connection, SqlDatabase kind) throws SQLException {
        H2Check.run(connection);
        return kind;
    }

    private static SqlDatabase atLeast(int major, int minor, int isMajor, int isMinor, SqlDatabase kind) {
        if (isMajor < major || (isMajor == major && isMinor < minor)) {
            throw new StoreRejected(
                    "the database is " + isMajor + "." + isMinor + ", but " + major + "." + minor + " is needed", null);
        }
        return kind;
    }
}
