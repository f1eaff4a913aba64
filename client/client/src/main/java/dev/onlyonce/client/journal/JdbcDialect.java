package dev.onlyonce.client.journal;

import dev.onlyonce.client.JournalException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/** What differs between databases: the types of the table, and an insert that leaves a row alone and the transaction usable. */
enum JdbcDialect {
    /** PostgreSQL. */
    POSTGRESQL("BYTEA", "VARCHAR(255)", "", """
            INSERT INTO onlyonce_client_call (id_hash, id, created_at, sent_at, seen_at, senders, idempotency_key,
                request_head, request_body, request_file, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id_hash) DO NOTHING
            """),
    /** MariaDB and MySQL. */
    MYSQL("LONGBLOB", "VARCHAR(255) CHARACTER SET utf8mb4", ", INDEX (settled_at, created_at)", """
            INSERT IGNORE INTO onlyonce_client_call (id_hash, id, created_at, sent_at, seen_at, senders, idempotency_key,
                request_head, request_body, request_file, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """),
    /** SQLite. */
    SQLITE("BLOB", "VARCHAR(255)", "", """
            INSERT INTO onlyonce_client_call (id_hash, id, created_at, sent_at, seen_at, senders, idempotency_key,
                request_head, request_body, request_file, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (id_hash) DO NOTHING
            """),
    /** H2. Its merge may still collide with another; the statement then fails alone, and is read as "there". */
    H2("BLOB", "VARCHAR(255)", "", """
            MERGE INTO onlyonce_client_call AS old
            USING (VALUES (CAST(? AS CHAR(64)), CAST(? AS VARCHAR), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT),
                    CAST(? AS INT), CAST(? AS VARCHAR), CAST(? AS BLOB), CAST(? AS BLOB), CAST(? AS BLOB), CAST(? AS CHAR(64))))
                AS new (id_hash, id, created_at, sent_at, seen_at, senders, idempotency_key,
                    request_head, request_body, request_file, checksum)
            ON old.id_hash = new.id_hash
            WHEN NOT MATCHED THEN INSERT (id_hash, id, created_at, sent_at, seen_at, senders, idempotency_key,
                request_head, request_body, request_file, checksum)
            VALUES (new.id_hash, new.id, new.created_at, new.sent_at, new.seen_at, new.senders, new.idempotency_key,
                new.request_head, new.request_body, new.request_file, new.checksum)
            """);

    private static final String DUPLICATE = "23505";

    /** Finds what is open, and what is old. */
    private static final String INDEX = """
            CREATE INDEX IF NOT EXISTS onlyonce_client_call_settled ON onlyonce_client_call (settled_at, created_at)
            """;

    private final String table;
    private final boolean hasIndex;
    private final String insert;

    JdbcDialect(String bytes, String id, String index, String insert) {
        this.table = """
                CREATE TABLE IF NOT EXISTS onlyonce_client_call (
                    id_hash CHAR(64) NOT NULL PRIMARY KEY,
                    id %1$s NOT NULL,
                    created_at BIGINT NOT NULL,
                    sent_at BIGINT,
                    seen_at BIGINT,
                    senders INT NOT NULL,
                    key_expires_at BIGINT,
                    settled_at BIGINT,
                    is_done SMALLINT DEFAULT 0 NOT NULL,
                    idempotency_key VARCHAR(255) NOT NULL,
                    request_head %2$s NOT NULL,
                    request_body %2$s,
                    request_file %2$s,
                    checksum CHAR(64) NOT NULL,
                    answer_head %2$s,
                    answer_body %2$s%3$s
                )
                """.formatted(id, bytes, index);
        this.hasIndex = !index.isEmpty();
        this.insert = insert;
    }

    static JdbcDialect of(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
        return switch (product) {
            case "postgresql" -> POSTGRESQL;
            case "mariadb", "mysql" -> MYSQL;
            case "sqlite" -> SQLITE;
            case "h2" -> H2;
            default ->
                throw new JournalException(
                        "There is no journal for " + product + "; use PostgreSQL, MariaDB, MySQL, SQLite or H2");
        };
    }

    /** The statements that make the table, if it is not there. */
    List<String> table() {
        return hasIndex ? List.of(table) : List.of(table, INDEX);
    }

    String insert() {
        return insert;
    }

    boolean isThere(SQLException e) {
        return this == H2 && DUPLICATE.equals(e.getSQLState());
    }
}
