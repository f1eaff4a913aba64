package dev.onlyonce.server.config;

import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;

/**
 * Finds mistakes in the URL of a SQL database without connecting. Drivers ignore settings that they do not know, so that a misspelt
 * {@code sslmode} would leave a connection in the clear. No message repeats the URL: it may have a password.
 */
final class JdbcUrl {
    private static final String SQLITE = "jdbc:sqlite:";
    private static final String POSTGRESQL = "jdbc:postgresql:";
    private static final String SERVER = "(\\[[^\\]]*]|[^:,/\\[\\]]*)(:\\d{1,5})?";
    private static final String SERVERS = SERVER + "(," + SERVER + ")*|address=.*";
    private static final String FORM = "jdbc:[a-z]+:([a-z-]+:)?//(" + SERVERS + ")(/.*)?";
    /** Settings of MySQL's driver that MariaDB's takes too, and does not list. It ignores other spellings of the first, and other values. */
    private static final String ALIASES =
            "useS(sl|SL)=(true|false|1|0)|(?i:(trust|client)CertificateKeyStore(Url|Type|Password)=.*)";

    private JdbcUrl() {}

    /** Whether it is the URL of a database that the gateway has a driver for. */
    static boolean isSupported(String url) {
        return url.matches("(?s)jdbc:(postgresql|mysql|mariadb|sqlite):.*");
    }

    /** Throws {@link IllegalArgumentException} with what to write instead. */
    static void check(String url) {
        if (url.startsWith(SQLITE)) {
            checkFile(url.substring(SQLITE.length()));
            return;
        }
        // The gateway has MariaDB's driver for both.
        String driverUrl = url.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:");
        String[] parts = driverUrl.split("\\?", 2);
        boolean local = url.startsWith(POSTGRESQL) && !parts[0].contains("//");
        if (parts[0].contains("@") || !(local || parts[0].matches(FORM))) {
            throw wrongForm(url);
        }
        try {
            checkSettings(DriverManager.getDriver(driverUrl), driverUrl, parts.length == 2 ? parts[1] : "");
        } catch (SQLException e) {
            throw wrongForm(url);
        }
    }

    private static IllegalArgumentException wrongForm(String url) {
        String scheme = url.substring(0, url.indexOf(':', "jdbc:".length()));
        return new IllegalArgumentException(
                "the URL of a database server must have the form " + scheme
                        + "://host:port/database?user=name&password=secret: user and password are settings after the ?, or beside the URL");
    }

    private static void checkFile(String file) {
        if (file.isEmpty() || file.startsWith(":") || file.startsWith("file:") || file.contains("?")) {
            throw new IllegalArgumentException(
                    "the URL of a SQLite database is jdbc:sqlite: and the name of a file, as in"
                            + " jdbc:sqlite:/var/lib/onlyonce/onlyonce.db, without settings: the store sets those that it needs");
        }
    }

    private static void checkSettings(Driver driver, String url, String settings) {
        List<String> known = known(driver, url);
        boolean postgres = url.startsWith(POSTGRESQL);
        List<String> unknown = new ArrayList<>();
        for (String setting : settings.split("&", -1)) {
            String name = setting.split("=", 2)[0];
            // PostgreSQL's driver distinguishes capital letters.
            boolean isKnown = postgres
                    ? known.contains(name)
                    : setting.matches(ALIASES) || known.stream().anyMatch(name::equalsIgnoreCase);
            if (!name.isEmpty() && !isKnown) {
                unknown.add(setting.contains("=") ? name : "(not shown: after an & it may be a part of the password)");
            }
        }
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException("the driver for "
                    + (postgres ? "PostgreSQL" : "MySQL and MariaDB (MariaDB Connector/J)") + " has no setting "
                    + String.join(", ", unknown)
                    + ": correct it in the URL, or leave it out");
        }
    }

    private static List<String> known(Driver driver, String url) {
        try {
            return Arrays.stream(driver.getPropertyInfo(url, new Properties()))
                    .map(property -> property.name)
                    .toList();
        } catch (SQLException e) {
            throw new IllegalArgumentException("a setting in the URL of the database is wrong: " + e.getMessage(), e);
        }
    }
}
