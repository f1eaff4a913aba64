package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.MySqlServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.file.Path;
import java.util.UUID;

/** The databases that tests run on. */
public enum TestDatabase {
    POSTGRES(SqlDatabase.POSTGRESQL),
    MARIADB(SqlDatabase.MYSQL),
    /** MySQL 8 through its own driver. */
    MYSQL(SqlDatabase.MYSQL),
    SQLITE(SqlDatabase.SQLITE),
    /** In memory, in its regular mode. */
    H2(SqlDatabase.H2),
    /** In a file, in its PostgreSQL mode, with the case of names that goes with it. */
    H2_POSTGRES_MODE(SqlDatabase.H2);

    private final SqlDatabase kind;

    TestDatabase(SqlDatabase kind) {
        this.kind = kind;
    }

    public SqlDatabase kind() {
        return kind;
    }

    /** A name in an SQL text. */
    public static String name(SqlDatabase kind, String text) {
        return kind == SqlDatabase.H2 ? "STRINGTOUTF8('" + text + "')" : "'" + text + "'";
    }

    /** A condition in an SQL text: the row of a key of the tenant. */
    public static String key(SqlDatabase kind, String tenant, String key) {
        return " tenant = " + name(kind, tenant) + " AND space = " + name(kind, "") + " AND key_ = " + name(kind, key)
                + " ";
    }

    /** A pool on a new, empty database. */
    public HikariDataSource create(Path folder) {
        return Pools.open(url(folder), 16);
    }

    /** The URL of a new, empty database. */
    public String url(Path folder) {
        return switch (this) {
            case POSTGRES -> PostgresServer.shared().createDatabase();
            case MARIADB -> MariaDbServer.shared().createDatabase();
            case MYSQL -> MySqlServer.shared().createDatabase();
            case SQLITE ->
                "jdbc:sqlite:" + folder.resolve(UUID.randomUUID() + ".db")
                        + "?journal_mode=WAL&synchronous=FULL&busy_timeout=20000";
            case H2 -> "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=60";
            case H2_POSTGRES_MODE ->
                "jdbc:h2:file:" + folder.resolve(UUID.randomUUID().toString())
                        + ";MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH";
        };
    }
}
