package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.sql.internal.connections.SqlDatabase;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StateCounts;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;

/**
 * How many entries are in each state.
 *
 * <ol>
 *   <li>The first entries in the order of ids are counted, up to a bound. In a small table these are all.
 *   <li>Otherwise the database says how large the table is, and PostgreSQL from its statistics how the states are distributed; elsewhere
 *       the entries that were counted stand for the others.
 *   <li>Unknown entries have an index, and are counted on it up to the bound.
 * </ol>
 */
public final class StateCount {
    static final String SAMPLE = """
        SELECT state, COUNT(*) FROM (
            SELECT CASE WHEN state IN (3, 4) AND expires_at <= {now} THEN 7 ELSE state END AS state
            FROM onlyonce_entry
            WHERE fingerprint_version > 0 AND (purge_at IS NULL OR purge_at > {now})
            ORDER BY tenant, space, key_ LIMIT ?
        ) sampled GROUP BY state\
        """;

    static final String UNKNOWN = """
        SELECT COUNT(*) FROM (SELECT 1 FROM onlyonce_entry WHERE unknown_since IS NOT NULL LIMIT ?) bounded\
        """;

    private static final String POSTGRES_ROWS = """
        SELECT reltuples::bigint FROM pg_class WHERE oid = 'onlyonce_entry'::regclass\
        """;

    private static final String POSTGRES_STATES = """
        SELECT stats.most_common_vals::text::smallint[], stats.most_common_freqs
        FROM pg_class entries
        JOIN pg_namespace ON pg_namespace.oid = entries.relnamespace
        JOIN pg_stats stats ON stats.schemaname = pg_namespace.nspname AND stats.tablename = entries.relname
        WHERE entries.oid = 'onlyonce_entry'::regclass AND stats.attname = 'state' AND stats.most_common_vals IS NOT NULL\
        """;

    private static final String MYSQL_ROWS = """
        SELECT table_rows FROM information_schema.tables
        WHERE table_schema = DATABASE() AND table_name = 'onlyonce_entry'\
        """;

    /** Two look-ups in the table's own order. */
    private static final String SQLITE_ROWS = """
        SELECT (SELECT MAX(rowid) FROM onlyonce_entry) - (SELECT MIN(rowid) FROM onlyonce_entry) + 1\
        """;

    private static final String H2_ROWS = """
        SELECT row_count_estimate FROM information_schema.tables
        WHERE table_schema = SCHEMA() AND UPPER(table_name) = 'ONLYONCE_ENTRY'\
        """;

    private StateCount() {}

    /** The counts; reads at most {@code max} entries, and as many of the index of unknown ones. */
    public static StateCounts of(Connection connection, SqlDialect database, int max) throws SQLException {
        Map<State, Long> sample = sample(connection, database, max);
        long sampled = sample.values().stream().mapToLong(Long::longValue).sum();
        if (sampled < max) {
            return new StateCounts(sample, StateCounts.Kind.EXACT);
        }
        long unknown = unknown(connection, database, max);
        long rows = rows(connection, database);
        if (rows <= sampled) {
            // Statistics from before the table grew.
            sample.merge(State.UNKNOWN, unknown, Math::max);
            return new StateCounts(sample, StateCounts.Kind.AT_LEAST);
        }
        Map<State, Long> known = statistics(connection, database, rows);
        return StateCounts.scaled(known.isEmpty() ? sample : known, rows, unknown);
    }

    private static Map<State, Long> sample(Connection connection, SqlDialect database, int max) throws SQLException {
        Map<State, Long> counts = new EnumMap<>(State.class);
        try (PreparedStatement statement = database.prepare(connection, database.sql(SAMPLE))) {
            statement.setInt(1, max);
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    counts.put(State.of(rows.getInt(1)), rows.getLong(2));
                }
            }
        }
        return counts;
    }

    private static long unknown(Connection connection, SqlDialect database, int max) throws SQLException {
        try (PreparedStatement statement = database.prepare(connection, database.sql(UNKNOWN))) {
            statement.setInt(1, max);
            return number(statement);
        }
    }

    private static long rows(Connection connection, SqlDialect database) throws SQLException {
        String sql = switch (database.kind()) {
            case POSTGRESQL -> POSTGRES_ROWS;
            case MYSQL -> MYSQL_ROWS;
            case SQLITE -> SQLITE_ROWS;
            case H2 -> H2_ROWS;
        };
        try (PreparedStatement statement = database.prepare(connection, database.sql(sql))) {
            return number(statement);
        }
    }

    /** Empty where the database has none. States that are too rare for it are missing. */
    private static Map<State, Long> statistics(Connection connection, SqlDialect database, long total)
            throws SQLException {
        Map<State, Long> counts = new EnumMap<>(State.class);
        if (database.kind() != SqlDatabase.POSTGRESQL) {
            return counts;
        }
        try (PreparedStatement statement = database.prepare(connection, database.sql(POSTGRES_STATES));
                ResultSet row = statement.executeQuery()) {
            if (row.next()) {
                Number[] states = numbers(row.getArray(1));
                Number[] shares = numbers(row.getArray(2));
                for (int i = 0; i < states.length; i++) {
                    counts.put(State.of(states[i].intValue()), Math.round(shares[i].doubleValue() * total));
                }
            }
        }
        return counts;
    }

    private static Number[] numbers(Array array) throws SQLException {
        return (Number[]) array.getArray();
    }

    private static long number(PreparedStatement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }
}
