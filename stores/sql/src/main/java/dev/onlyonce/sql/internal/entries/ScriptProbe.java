package dev.onlyonce.sql.internal.entries;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether PostgreSQL's driver sends several statements as one transaction, so that a setting in front holds for those behind
 * it. It may stop doing so when it prepares them on the server: with stringtype=unspecified it first asks for the types of the parameters,
 * which ends the transaction. So the probe runs for longer than the driver's prepareThreshold.
 */
public final class ScriptProbe {
    private static final Logger log = LoggerFactory.getLogger(ScriptProbe.class);

    /** What the driver's own setting is, unless it tells another. */
    private static final int THRESHOLD_STANDARD = 5;
    /** A driver that prepares later is not tried for that long: there, each statement goes by itself. */
    private static final int THRESHOLD_MAX = 200;

    private static final String SET = "4321ms";

    private ScriptProbe() {}

    /** Whether a setting in a string of several statements holds for those behind it, however often it is sent. */
    public static boolean run(Connection connection) {
        int threshold = threshold(connection);
        if (threshold > THRESHOLD_MAX) {
            return false;
        }
        int runs = Math.max(threshold, THRESHOLD_STANDARD) + 2;
        Postgres postgres = new Postgres(Optional.empty());
        List<String> seen = new ArrayList<>();
        List<Postgres.Part> script = List.of(
                new Postgres.Part("SELECT set_config('lock_timeout', '" + SET + "', true), 1", Binding.NONE, row -> {}),
                new Postgres.Part(
                        "SELECT current_setting('lock_timeout'), ?::text",
                        Binding.texts(Columns.NATIVE, "x"),
                        row -> seen.add(row.getString(1))));
        try {
            for (int i = 0; i < runs; i++) {
                postgres.runAll(connection, script);
            }
        } catch (SQLException e) {
            log.debug("The driver cannot send several statements at once", e);
        }
        return seen.equals(Collections.nCopies(runs, SET));
    }

    /** The driver is the application's: it is not on our class path. */
    private static int threshold(Connection connection) {
        try {
            Class<?> type = Class.forName(
                    "org.postgresql.PGConnection",
                    false,
                    connection.unwrap(Connection.class).getClass().getClassLoader());
            Object driver = connection.unwrap(type);
            return (int) type.getMethod("getPrepareThreshold").invoke(driver);
        } catch (ReflectiveOperationException | SQLException | RuntimeException e) {
            log.debug("The driver does not tell its prepareThreshold", e);
            return THRESHOLD_STANDARD;
        }
    }
}
