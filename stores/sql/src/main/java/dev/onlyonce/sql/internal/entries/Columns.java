package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** How a database keeps names and tokens. */
public enum Columns {
    /** Names as text, tokens as uuid: PostgreSQL. */
    NATIVE {
        @Override
        public String text(ResultSet row, int column) throws SQLException {
            return row.getString(column);
        }

        @Override
        public void text(PreparedStatement statement, int parameter, String text) throws SQLException {
            statement.setString(parameter, text);
        }

        @Override
        @Nullable
        public UUID token(ResultSet row, int column) throws SQLException {
            return row.getObject(column, UUID.class);
        }

        @Override
        public void token(PreparedStatement statement, int parameter, UUID token) throws SQLException {
            statement.setObject(parameter, token);
        }
    },
    /** Names as text, tokens as 16 bytes: SQLite. */
    TEXT {
        @Override
        public String text(ResultSet row, int column) throws SQLException {
            return row.getString(column);
        }

        @Override
        public void text(PreparedStatement statement, int parameter, String text) throws SQLException {
            statement.setString(parameter, text);
        }
    },
    /** Names as UTF-8 bytes, tokens as 16 bytes: MySQL, MariaDB and H2. */
    BYTES {
        @Override
        public String text(ResultSet row, int column) throws SQLException {
            return new String(row.getBytes(column), StandardCharsets.UTF_8);
        }

        @Override
        public void text(PreparedStatement statement, int parameter, String text) throws SQLException {
            statement.setBytes(parameter, text.getBytes(StandardCharsets.UTF_8));
        }
    };

    public static Columns of(SqlDatabase kind) {
        return switch (kind) {
            case POSTGRESQL -> NATIVE;
            case MYSQL, H2 -> BYTES;
            case SQLITE -> TEXT;
        };
    }

    public abstract String text(ResultSet row, int column) throws SQLException;

    public abstract void text(PreparedStatement statement, int parameter, String text) throws SQLException;

    /** As {@link #text}; null is sent with the type of a text, because PostgreSQL prepares a statement again for another type. */
    @SuppressWarnings("NullAway") // JDBC takes null for NULL.
    void textOrNull(PreparedStatement statement, int parameter, @Nullable String text) throws SQLException {
        if (text != null) {
            text(statement, parameter, text);
        } else if (this == BYTES) {
            statement.setBytes(parameter, null);
        } else {
            statement.setString(parameter, null);
        }
    }

    /** As {@link #text}, of a column that may be null. */
    @Nullable
    String textOrNull(ResultSet row, int column) throws SQLException {
        return row.getObject(column) == null ? null : text(row, column);
    }

    @Nullable
    public UUID token(ResultSet row, int column) throws SQLException {
        byte[] bytes = row.getBytes(column);
        if (bytes == null) {
            return null;
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new UUID(buffer.getLong(), buffer.getLong());
    }

    public void token(PreparedStatement statement, int parameter, UUID token) throws SQLException {
        ByteBuffer buffer = ByteBuffer.allocate(16);
        buffer.putLong(token.getMostSignificantBits()).putLong(token.getLeastSignificantBits());
        statement.setBytes(parameter, buffer.array());
    }
}
