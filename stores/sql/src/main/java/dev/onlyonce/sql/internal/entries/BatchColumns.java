package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.EntryId;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The columns of a batch: their names for the text of a statement, and their values for its parameters, in the same order. */
final class BatchColumns<T> {
    private final List<Column<T>> columns = new ArrayList<>();

    private record Column<T>(String name, Kind kind, boolean isKey, Function<T, @Nullable Object> value) {}

    /** The type of an array in PostgreSQL, and of a parameter in MySQL, which takes untyped bytes for characters. */
    private enum Kind {
        TEXT("text", "?"),
        BYTES("bytea", "CAST(? AS BINARY)"),
        TOKEN("uuid", "CAST(? AS BINARY(16))"),
        NUMBER("int8", "?");

        private final String array;
        private final String parameter;

        Kind(String array, String parameter) {
            this.array = array;
            this.parameter = parameter;
        }
    }

    BatchColumns<T> text(String name, Function<T, @Nullable Object> value) {
        return add(name, Kind.TEXT, value);
    }

    BatchColumns<T> bytes(String name, Function<T, @Nullable Object> value) {
        return add(name, Kind.BYTES, value);
    }

    BatchColumns<T> token(String name, Function<T, @Nullable Object> value) {
        return add(name, Kind.TOKEN, value);
    }

    /** The value is a {@link Number}. */
    BatchColumns<T> number(String name, Function<T, @Nullable Object> value) {
        return add(name, Kind.NUMBER, value);
    }

    /** The primary key, which an UPDATE does not set. The last columns. */
    BatchColumns<T> key(Function<T, EntryId> id) {
        columns.add(new Column<>("tenant", Kind.TEXT, true, row -> id.apply(row).tenant()));
        columns.add(new Column<>("space", Kind.TEXT, true, row -> id.apply(row).scope()));
        columns.add(new Column<>("key_", Kind.TEXT, true, row -> id.apply(row).key()));
        return this;
    }

    private BatchColumns<T> add(String name, Kind kind, Function<T, @Nullable Object> value) {
        columns.add(new Column<>(name, kind, false, value));
        return this;
    }

    /** For an INSERT. */
    String names() {
        return join(c -> true, Column::name);
    }

    /** For a SET from another table. */
    String assignments(String prefix) {
        return join(c -> !c.isKey, c -> prefix + c.name + " = a." + c.name);
    }

    /** For a SET of one row. */
    String assignments() {
        return join(c -> !c.isKey, c -> c.name + " = ?");
    }

    /** For VALUES. */
    String placeholders() {
        return join(c -> true, c -> "?");
    }

    /** For a SELECT of arrays side by side. */
    String arrays() {
        return join(c -> true, c -> "unnest(?::" + c.kind.array + "[]) AS " + c.name);
    }

    /** For a SELECT of one row. */
    String parameters() {
        return join(c -> true, c -> c.kind.parameter + " AS " + c.name);
    }

    private String join(Predicate<Column<T>> which, Function<Column<T>, String> text) {
        return columns.stream().filter(which).map(text).collect(Collectors.joining(", "));
    }

    /** One parameter for each column: an array of the batch's length. */
    Binding arrays(List<T> batch) {
        ArrayParameters<T> arrays = new ArrayParameters<>(batch);
        for (Column<T> column : columns) {
            switch (column.kind) {
                case TEXT -> arrays.texts(row -> (String) column.value.apply(row));
                case BYTES -> arrays.bytes(row -> (byte[]) column.value.apply(row));
                case TOKEN -> arrays.tokens(column.value);
                case NUMBER -> arrays.longs(row -> number(column.value.apply(row)));
            }
        }
        return arrays;
    }

    private static @Nullable Long number(@Nullable Object value) {
        return value == null ? null : ((Number) value).longValue();
    }

    /** One parameter for each column of a row. */
    Binding row(Columns in, T row) {
        return (statement, first) -> {
            int next = first;
            for (Column<T> column : columns) {
                set(in, statement, next++, column, column.value.apply(row));
            }
            return next;
        };
    }

    @SuppressWarnings("NullAway") // JDBC takes null for NULL.
    private void set(Columns in, PreparedStatement statement, int parameter, Column<T> column, @Nullable Object value)
            throws SQLException {
        if (value == null) {
            statement.setBytes(parameter, null);
            return;
        }
        switch (column.kind) {
            case TEXT -> in.text(statement, parameter, (String) value);
            case BYTES -> statement.setBytes(parameter, (byte[]) value);
            case TOKEN -> in.token(statement, parameter, (UUID) value);
            case NUMBER -> statement.setLong(parameter, ((Number) value).longValue());
        }
    }
}
