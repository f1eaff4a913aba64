package dev.onlyonce.spring.conformance;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The starter while another program keeps the SQLite file to itself")
class SqliteOutageTest extends StarterOutage {
    @TempDir
    static Path folder;

    private Connection other;

    @Override
    String database() {
        // Without a write-ahead log, an exclusive transaction keeps readers out too.
        return "jdbc:sqlite:" + folder.resolve("entries.db") + "?journal_mode=DELETE&synchronous=FULL&busy_timeout=100";
    }

    @Override
    protected void stopStore() {
        try {
            other = DriverManager.getConnection("jdbc:sqlite:" + folder.resolve("entries.db") + "?busy_timeout=60000");
            try (Statement statement = other.createStatement()) {
                statement.execute("BEGIN EXCLUSIVE");
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected void startStore() {
        try {
            other.close();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
