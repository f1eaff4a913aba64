package dev.onlyonce.sql.schema;

import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.sql.internal.connections.Transaction;
import dev.onlyonce.sql.internal.entries.EntryStatements;
import dev.onlyonce.sql.internal.entries.Sqlite;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreRejected;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The tables. They are made by numbered scripts in the jar, {@code schema/<database>/V001__create.sql} and so on; each
 * script ends by writing its number into {@code onlyonce_schema}, so it makes no difference who runs it.
 */
public final class Schema {
    private static final List<String> SCRIPTS = List.of("V001__create.sql");

    /** Any number that nobody else uses for PostgreSQL's advisory locks: "onlyonce" in ASCII. */
    private static final long LOCK = 0x6f6e6c796f6e6365L;
    /** A script that changes a table gives way to requests after a second at most, and is tried again. */
    private static final int TRIES_MAX = 5;

    /** H2: a table, index, column, constraint or version that is there already. */
    private static final Set<Integer> H2_EXISTS = Set.of(42101, 42111, 42121, 90045, 23505);

    private final Connections connections;
    private final SqlDatabase database;
    private final List<String> scripts;

    public Schema(Connections connections, SqlDatabase database) {
        this(connections, database, SCRIPTS);
    }

    /** With the scripts of another release: for tests. */
    Schema(Connections connections, SqlDatabase database, List<String> scripts) {
        this.connections = connections;
        this.database = database;
        this.scripts = scripts;
    }

    /**
     * Where a database's schema stands.
     *
     * @param database postgresql, mysql, sqlite or h2
     * @param installed the version that is there; 0 for none
     * @param known the version that this release works with
     */
    public record Status(String database, int installed, int known) {

        /** Whether this release can work with it as it is. */
        public boolean isCurrent() {
            return installed == known;
        }
    }

    /**
     * The whole schema as a script, for creating it by hand.
     *
     * @param database postgresql, mysql, sqlite or h2
     * @throws IllegalArgumentException if it is none of these
     */
    public static String script(String database) {
        return script(kind(database));
    }

    static String script(SqlDatabase database) {
        return SCRIPTS.stream().map(script -> script(database, script)).collect(Collectors.joining("\n"));
    }

    /**
     * The statements on entries as they are sent, for looking at them and their plans.
     *
     * @param database as for {@link #script(String)}
     */
    public static String statements(String database) {
        return EntryStatements.print(kind(database));
    }

    private static SqlDatabase kind(String database) {
        try {
            return SqlDatabase.valueOf(database.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "no database \"" + database + "\"; use postgresql, mysql, sqlite or h2", e);
        }
    }

    private static String script(SqlDatabase database, String name) {
        String resource = "/schema/" + database.folder() + "/" + name;
        try (InputStream in = Schema.class.getResourceAsStream(resource)) {
            if (in == null) {
                throw new IllegalStateException(resource + " is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Looks. */
    public Status status() {
        return new Status(database.name().toLowerCase(Locale.ROOT), connections.read(this::installed), scripts.size());
    }

    /**
     * Runs the scripts that are missing, once, even if several nodes do so at the same time.
     *
     * @return where it stands now
     * @throws StoreRejected if the schema is newer than this release knows
     * @throws StoreBusy if others hold a table that is to be changed; nothing was changed
     */
    public Status apply() {
        // Most often there is nothing to do, and that needs no rights to create tables.
        for (int tries = 1; status().installed() < scripts.size(); tries++) {
            try {
                run();
            } catch (StoreBusy e) {
                if (tries == TRIES_MAX) {
                    throw e;
                }
            }
        }
        return validate();
    }

    private void run() {
        connections.write(connection -> switch (database) {
            case POSTGRESQL -> inPostgres(connection);
            case MYSQL -> inMySql(connection);
            case SQLITE -> Transaction.run(connection, Sqlite.BEGIN, this::migrate);
            case H2 -> inH2(connection);
        });
    }

    /**
     * Looks, and insists on what this release works with.
     *
     * @throws StoreRejected if the schema is missing, older or newer
     */
    public Status validate() {
        Status status = status();
        if (status.installed > status.known) {
            throw new StoreRejected(
                    "the schema has version " + status.installed + ", which this release does not know (it knows "
                            + status.known + "): upgrade Onlyonce on this node",
                    null);
        }
        if (!status.isCurrent()) {
            throw new StoreRejected(
                    "the schema has version " + status.installed + ", but this release needs " + status.known
                            + ": run onlyonce schema apply, or schema/" + database.folder()
                            + " from the jar, or use SchemaMode.CREATE",
                    null);
        }
        return status;
    }

    private int inPostgres(Connection connection) throws SQLException {
        return Transaction.run(
                connection, List.of("BEGIN", "SELECT pg_advisory_xact_lock(" + LOCK + ")"), this::migrate);
    }

    /**
     * Tables cannot be made in a transaction there, so every script can be run again from its beginning. A change of a table
     * waits for transactions that use it, and holds up everybody behind it: so it waits for a second, not for a day.
     */
    private int inMySql(Connection connection) throws SQLException {
        int wait = number(connection, "SELECT @@SESSION.lock_wait_timeout");
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT GET_LOCK('onlyonce_schema', 60)");
            statement.execute("SET SESSION lock_wait_timeout = 1");
            try {
                int version = migrate(connection);
                release(statement, wait);
                return version;
            } catch (Throwable e) {
                try {
                    release(statement, wait);
                } catch (SQLException more) {
                    e.addSuppressed(more);
                }
                throw e;
            }
        }
    }

    private static void release(Statement statement, int wait) throws SQLException {
        statement.execute("SET SESSION lock_wait_timeout = " + wait);
        statement.execute("SELECT RELEASE_LOCK('onlyonce_schema')");
    }

    /**
     * Tables cannot be made in a transaction there either, and there is no lock to take: in one process, nodes take turns.
     * What a node that died has done already is left as it is.
     */
    private int inH2(Connection connection) throws SQLException {
        synchronized (Schema.class) {
            return migrate(connection);
        }
    }

    private int migrate(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (int version = installed(connection) + 1; version <= scripts.size(); version++) {
                for (String sql : split(script(database, scripts.get(version - 1)))) {
                    execute(statement, sql);
                }
            }
        }
        return scripts.size();
    }

    private void execute(Statement statement, String sql) throws SQLException {
        try {
            statement.execute(sql);
        } catch (SQLException e) {
            if (database != SqlDatabase.H2 || !H2_EXISTS.contains(e.getErrorCode())) {
                throw e;
            }
        }
    }

    private int installed(Connection connection) throws SQLException {
        String tables = switch (database) {
            // Not to_regclass: it may answer from a cache that is older than the lock.
            case POSTGRESQL -> """
                        SELECT count(*) FROM pg_catalog.pg_class
                        WHERE relname = 'onlyonce_schema' AND pg_catalog.pg_table_is_visible(oid)""";
            case MYSQL -> """
                        SELECT count(*) FROM information_schema.tables
                        WHERE table_schema = DATABASE() AND table_name = 'onlyonce_schema'""";
            case SQLITE -> "SELECT count(*) FROM sqlite_master WHERE name = 'onlyonce_schema'";
            // Names of tables are upper case, or lower case with DATABASE_TO_LOWER and DATABASE_TO_UPPER=FALSE.
            case H2 -> """
                        SELECT count(*) FROM INFORMATION_SCHEMA.TABLES
                        WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND LOWER(TABLE_NAME) = 'onlyonce_schema'""";
        };
        if (number(connection, tables) == 0) {
            return 0;
        }
        return number(connection, "SELECT coalesce(max(version), 0) FROM onlyonce_schema");
    }

    private static int number(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        }
    }

    /** Comments end with their line, statements with a semicolon; the scripts have no literals with either. */
    static List<String> split(String script) {
        String code = script.lines().map(line -> line.replaceAll("--.*", "")).collect(Collectors.joining("\n"));
        List<String> statements = new ArrayList<>();
        for (String statement : code.split(";", -1)) {
            if (!statement.isBlank()) {
                statements.add(statement.strip());
            }
        }
        return statements;
    }
}
