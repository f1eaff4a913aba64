package dev.onlyonce.sql.internal.connections;

/** The kinds of database that a store can use. */
public enum SqlDatabase {
    /** PostgreSQL 14 and newer. */
    POSTGRESQL("postgresql"),
    /** MySQL 8 and MariaDB 10.6 and newer. */
    MYSQL("mysql"),
    /** SQLite 3.35 and newer. */
    SQLITE("sqlite"),
    /** H2 2.2 and newer, in its regular or its PostgreSQL mode. */
    H2("h2");

    private final String folder;

    SqlDatabase(String folder) {
        this.folder = folder;
    }

    /** The folder of its schema in the jar, under {@code schema/}. */
    public String folder() {
        return folder;
    }
}
