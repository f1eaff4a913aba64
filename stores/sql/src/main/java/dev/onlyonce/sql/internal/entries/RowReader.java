package dev.onlyonce.sql.internal.entries;

import java.sql.ResultSet;
import java.sql.SQLException;

/** Makes a value of the row that a result set stands on. */
@FunctionalInterface
interface RowReader<R> {
    /** Reads the row. */
    R read(ResultSet row) throws SQLException;
}
