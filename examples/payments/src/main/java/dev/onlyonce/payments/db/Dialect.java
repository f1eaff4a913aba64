package dev.onlyonce.payments.db;

import java.util.Locale;

/** The databases that the payments run on, where their SQL differs. */
public enum Dialect {
    /** PostgreSQL. */
    POSTGRESQL("ON CONFLICT DO NOTHING"),
    /** MySQL and MariaDB. */
    MYSQL(""),
    /** SQLite. */
    SQLITE("ON CONFLICT DO NOTHING");

    private final String unlessThere;

    Dialect(String unlessThere) {
        this.unlessThere = unlessThere;
    }

    /** The dialect of a JDBC URL; throws {@link IllegalArgumentException} for others. */
    public static Dialect of(String jdbcUrl) {
        String url = jdbcUrl.toLowerCase(Locale.ROOT);
        if (url.startsWith("jdbc:postgresql:")) {
            return POSTGRESQL;
        } else if (url.startsWith("jdbc:mysql:") || url.startsWith("jdbc:mariadb:")) {
            return MYSQL;
        } else if (url.startsWith("jdbc:sqlite:")) {
            return SQLITE;
        }
        throw new IllegalArgumentException("The payments run on PostgreSQL, MySQL, MariaDB and SQLite");
    }

    /**
     * Turns {@code INSERT INTO …} into one that changes nothing when a unique value is there already. All values must have been
     * checked before: MySQL would cut what is too long.
     */
    public String insertUnlessThere(String insert) {
        return this == MYSQL ? insert.replaceFirst("INSERT", "INSERT IGNORE") : insert + " " + unlessThere;
    }

    /** Locks the row that a SELECT reads until the transaction ends. On SQLite the whole file is locked anyway. */
    public String forUpdate(String select) {
        return this == SQLITE ? select : select + " FOR UPDATE";
    }

    /** The end of an INSERT that replaces these columns when the key is there already. */
    public String orReplace(String key, String... columns) {
        StringBuilder end = new StringBuilder(
                this == MYSQL ? " ON DUPLICATE KEY UPDATE " : " ON CONFLICT (" + key + ") DO UPDATE SET ");
        for (int i = 0; i < columns.length; i++) {
            String value = this == MYSQL ? "VALUES(" + columns[i] + ")" : "excluded." + columns[i];
            end.append(i == 0 ? "" : ", ").append(columns[i]).append(" = ").append(value);
        }
        return end.toString();
    }
}
