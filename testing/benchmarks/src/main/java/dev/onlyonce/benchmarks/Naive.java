package dev.onlyonce.benchmarks;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The obvious code, as a careful developer writes it: the unique key decides who executes, the token fences the second
 * write, every statement is prepared and commits by itself, and a connection is held only for its statement. It stores
 * what the engine stores.
 */
final class Naive {
    private static final String CREATE_POSTGRESQL = """
            CREATE TABLE naive (
                tenant text NOT NULL, key_ text NOT NULL, operation text NOT NULL, fingerprint bytea NOT NULL,
                state smallint NOT NULL, token uuid NOT NULL, owner text NOT NULL, attempt int NOT NULL,
                created_at timestamptz NOT NULL, lease_until timestamptz NOT NULL, settled_at timestamptz,
                expires_at timestamptz NOT NULL, response bytea, PRIMARY KEY (tenant, key_))""";
    private static final String CREATE_MARIADB = """
            CREATE TABLE naive (
                tenant VARCHAR(255) NOT NULL, key_ VARCHAR(255) NOT NULL, operation VARCHAR(255) NOT NULL,
                fingerprint BINARY(32) NOT NULL, state SMALLINT NOT NULL, token BINARY(16) NOT NULL,
                owner VARCHAR(255) NOT NULL, attempt INT NOT NULL,
                created_at DATETIME(6) NOT NULL, lease_until DATETIME(6) NOT NULL, settled_at DATETIME(6),
                expires_at DATETIME(6) NOT NULL, response LONGBLOB, PRIMARY KEY (tenant, key_))
            ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin""";
    private static final String CREATE_SQLITE = """
            CREATE TABLE naive (
                tenant TEXT NOT NULL, key_ TEXT NOT NULL, operation TEXT NOT NULL, fingerprint BLOB NOT NULL,
                state INTEGER NOT NULL, token BLOB NOT NULL, owner TEXT NOT NULL, attempt INTEGER NOT NULL,
                created_at INTEGER NOT NULL, lease_until INTEGER NOT NULL, settled_at INTEGER,
                expires_at INTEGER NOT NULL, response BLOB, PRIMARY KEY (tenant, key_))""";
    private static final String INDEX = "CREATE INDEX naive_expires ON naive (expires_at)";

    private final String claim;
    private final String settle;
    private final boolean uuids;

    private Naive(String claim, String settle, boolean uuids) {
        this.claim = claim;
        this.settle = settle;
        this.uuids = uuids;
    }

    /** The statements for a database. */
    static Naive on(Databases.Kind kind) {
        String columns = "INTO naive (tenant, key_, operation, fingerprint, state, token, owner, attempt,"
                + " created_at, lease_until, expires_at) VALUES (?, ?, ?, ?, 2, ?, ?, 1, ";
        String where = " WHERE tenant = ? AND key_ = ? AND token = ? AND state = 2";
        return switch (kind) {
            case POSTGRESQL ->
                new Naive(
                        "INSERT " + columns
                                + "now(), now() + interval '30 s', now() + interval '1 d') ON CONFLICT DO NOTHING",
                        "UPDATE naive SET state = 3, response = ?, settled_at = now()" + where,
                        true);
            case MARIADB ->
                new Naive(
                        "INSERT IGNORE " + columns + "now(6), now(6) + INTERVAL 30 SECOND, now(6) + INTERVAL 1 DAY)",
                        "UPDATE naive SET state = 3, response = ?, settled_at = now(6)" + where,
                        false);
            case SQLITE ->
                new Naive(
                        "INSERT " + columns
                                + "unixepoch('subsec') * 1000, unixepoch('subsec') * 1000 + 30000,"
                                + " unixepoch('subsec') * 1000 + 86400000) ON CONFLICT DO NOTHING",
                        "UPDATE naive SET state = 3, response = ?, settled_at = unixepoch('subsec') * 1000" + where,
                        false);
        };
    }

    static void createTable(Databases.Kind kind, DataSource pool) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(
                    switch (kind) {
                        case POSTGRESQL -> CREATE_POSTGRESQL;
                        case MARIADB -> CREATE_MARIADB;
                        case SQLITE -> CREATE_SQLITE;
                    });
            statement.execute(INDEX);
        }
    }

    /** Claims and settles with connections from a pool. */
    Load.Caller pooled(DataSource pool) {
        return () -> {
            String key = Work.newKey();
            Object token = newToken();
            claim(pool, key, token);
            settle(pool, key, token, Work.response());
        };
    }

    /** Claims with a connection from a pool. */
    void claim(DataSource pool, String key, Object token) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(claim)) {
            claim(statement, key, token);
        }
    }

    /** Settles with a connection from a pool. */
    void settle(DataSource pool, String key, Object token, byte[] response) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(settle)) {
            settle(statement, key, token, response);
        }
    }

    /** Claims and settles on a connection of the caller's own, with statements that stay prepared. */
    Load.Caller raw(Connection connection) throws SQLException {
        PreparedStatement claims = connection.prepareStatement(claim);
        PreparedStatement settlements = connection.prepareStatement(settle);
        return () -> {
            String key = Work.newKey();
            Object token = newToken();
            claim(claims, key, token);
            settle(settlements, key, token, Work.response());
        };
    }

    private static void claim(PreparedStatement statement, String key, Object token) throws SQLException {
        statement.setString(1, Work.TENANT);
        statement.setString(2, key);
        statement.setString(3, Work.OPERATION);
        statement.setBytes(4, Work.DIGEST);
        statement.setObject(5, token);
        statement.setString(6, "node");
        if (statement.executeUpdate() != 1) {
            throw new IllegalStateException("a fresh key was taken");
        }
    }

    private static void settle(PreparedStatement statement, String key, Object token, byte[] response)
            throws SQLException {
        statement.setBytes(1, response);
        statement.setString(2, Work.TENANT);
        statement.setString(3, key);
        statement.setObject(4, token);
        if (statement.executeUpdate() != 1) {
            throw new IllegalStateException("the claim was lost");
        }
    }

    Object newToken() {
        UUID token = UUID.randomUUID();
        return uuids ? token : Work.bytes(token);
    }

    /** Sets a token that no claim has. */
    static void setToken(Databases.Kind kind, PreparedStatement statement, int index) throws SQLException {
        statement.setObject(index, on(kind).newToken());
    }

    /** Reads one entry with a connection from a pool. */
    static byte @Nullable [] find(DataSource pool, String key) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement(
                        "SELECT operation, fingerprint, state, token, owner, attempt, created_at, lease_until,"
                                + " settled_at, expires_at, response FROM naive WHERE tenant = ? AND key_ = ?")) {
            statement.setString(1, Work.TENANT);
            statement.setString(2, key);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                requireNonNull(row.getString(1));
                requireNonNull(row.getBytes(2));
                requireNonNull(row.getString(5));
                return row.getBytes(11);
            }
        }
    }
}
