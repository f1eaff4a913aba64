package dev.onlyonce.testservers;

import java.nio.file.Path;

/** A SQLite database file that SQLite creates when first used. */
public record SqliteFile(Path path) {
    /** Returns a new file in a folder, such as a test's temporary one. */
    public static SqliteFile in(Path folder) {
        return new SqliteFile(folder.resolve("onlyonce-" + Long.toHexString(System.nanoTime()) + ".db"));
    }

    /** Returns the JDBC URL of the file. */
    public String jdbcUrl() {
        return "jdbc:sqlite:" + path;
    }
}
