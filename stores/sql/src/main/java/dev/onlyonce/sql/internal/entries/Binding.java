package dev.onlyonce.sql.internal.entries;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** Sets parameters of a statement. */
@FunctionalInterface
interface Binding {
    /**
     * Sets parameters from {@code first} on.
     *
     * @return the number of the next parameter
     */
    int bind(PreparedStatement statement, int first) throws SQLException;

    /** These parameters, and others after them. */
    default Binding then(Binding others) {
        return (statement, first) -> others.bind(statement, bind(statement, first));
    }

    /** No parameters. */
    Binding NONE = (statement, first) -> first;

    /** Numbers, one parameter each. */
    static Binding longs(long... numbers) {
        return (statement, first) -> {
            int next = first;
            for (long number : numbers) {
                statement.setLong(next++, number);
            }
            return next;
        };
    }

    /** Names, one parameter each. */
    static Binding texts(Columns columns, String... texts) {
        return (statement, first) -> {
            int next = first;
            for (String text : texts) {
                columns.text(statement, next++, text);
            }
            return next;
        };
    }
}
