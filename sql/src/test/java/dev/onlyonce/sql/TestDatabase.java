package dev.onlyonce.sql;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.sql.connections.SqlDatabase;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.file.Path;
import java.util.UUID;

/** The databases that tests run on. */
public enum TestDatabase {
    POSTGRES(SqlDatabase.POSTGRESQL),
    MARIADB(SqlDatabase.MYSQL),
    SQLITE(SqlDatabase.SQLITE);

    private final SqlDatabase kind;

    TestDatabase(SqlDatabase kind) {
        this.kind = kind;
    }

    public SqlDatabase kind() {
        return kind;
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
            case SQLITE ->
                "jdbc:sqlite:" + folder.resolve(UUID.randomUUID() + ".db")
                        + "?journal_mode=WAL&synchronous=FULL&busy_timeout=20000";
        };
    }
}
