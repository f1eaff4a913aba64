package dev.onlyonce.testservers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The JDBC URL of a server, taken apart so that its database can be exchanged. */
record ServerUrl(String server, String database, String parameters) {
    /** System property or environment variable: run PostgreSQL tests there. */
    static final String POSTGRES = "ONLYONCE_POSTGRES_URL";

    /** System property or environment variable: run MariaDB tests there. */
    static final String MARIADB = "ONLYONCE_MARIADB_URL";

    /** System property or environment variable: run MySQL tests there. */
    static final String MYSQL = "ONLYONCE_MYSQL_URL";

    private static final Pattern FORM = Pattern.compile("(jdbc:[a-z]+://[^/?]+)(?:/([^?]*))?(\\?.*)?");

    static ServerUrl of(String url) {
        Matcher matcher = FORM.matcher(url);
        if (!matcher.matches()) {
            throw new IllegalArgumentException("Not of the form jdbc:<driver>://<host>:<port>/<database>?<parameters>");
        }
        return new ServerUrl(matcher.group(1), orEmpty(matcher.group(2)), orEmpty(matcher.group(3)));
    }

    /** Returns the server that the tests are pointed at, or null: start one. */
    static @Nullable ServerUrl outside(String name) {
        String url = System.getProperty(name, System.getenv(name));
        return url == null || url.isBlank() ? null : of(url);
    }

    String with(String database) {
        return server + "/" + database + parameters;
    }

    boolean answers() {
        try (Connection connection = DriverManager.getConnection(with(database))) {
            return connection.isValid(10);
        } catch (SQLException e) {
            return false;
        }
    }

    /** Creates a database and returns its name. */
    String createDatabase() {
        String name = "t" + UUID.randomUUID().toString().replace("-", "").toLowerCase(Locale.ROOT);
        execute("CREATE DATABASE " + name);
        return name;
    }

    void execute(String sql) {
        try (Connection connection = DriverManager.getConnection(with(database));
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /**
     * Returns a port that is free now. It lies below the range from which the system takes the ports of outgoing
     * connections, or one of those could take it while a killed server is down.
     */
    static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(15_000, 32_000);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException e) {
                // Taken: try another.
            }
        }
    }

    private static String orEmpty(@Nullable String text) {
        return text == null ? "" : text;
    }
}
