package dev.onlyonce.payments.cli;

import dev.onlyonce.payments.db.DataSources;
import dev.onlyonce.payments.db.Dialect;
import java.sql.DriverManager;
import java.sql.SQLException;

/** The database that a command line names. */
public final class DatabaseUrl {
    private DatabaseUrl() {}

    /** Throws {@link CannotRun} unless it is one that the payments run on. */
    public static void check(String url) {
        try {
            Dialect.of(url);
        } catch (IllegalArgumentException e) {
            throw new CannotRun(
                    CannotRun.USAGE,
                    "--db: " + e.getMessage() + ", e.g. jdbc:postgresql://127.0.0.1:5432/demo?user=me&password=secret");
        }
    }

    /** Throws {@link CannotRun} unless it answers: a typing error should not be waited for. */
    public static void checkAnswers(String url) {
        check(url);
        try {
            DriverManager.getConnection(DataSources.driverUrl(url)).close();
        } catch (SQLException e) {
            String said = String.valueOf(e.getMessage()).lines().findFirst().orElse(e.toString());
            throw new CannotRun(CannotRun.UNAVAILABLE, "The database cannot be used: " + said);
        }
    }
}
