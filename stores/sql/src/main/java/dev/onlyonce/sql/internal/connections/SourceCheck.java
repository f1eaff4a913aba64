package dev.onlyonce.sql.internal.connections;

import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreUnavailable;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Refuses a DataSource whose connections depend on who asks. The engine's calls travel together, on any thread: with a
 * DataSource that picks its database by thread, a key would be claimed in one database and settled in another; with one that
 * hands out the caller's transaction, we would commit it.
 *
 * <p>By behaviour: another thread gets the same database, another session at the same time, and the same mode. Spring's classes
 * behave well until a transaction or a routing key is there, so they are also known by name. What remains is noticed by
 * {@link Pool} on every connection, before anything is done with it.
 */
public final class SourceCheck {
    private static final Map<String, String> BY_NAME = Map.of(
            "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy",
            "hands out the caller's transaction, which would be committed here",
            "org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource",
            "picks its database by thread",
            "org.springframework.jdbc.datasource.SingleConnectionDataSource",
            "has one connection for all threads");

    static final String INSTEAD =
            "Give Onlyonce a pool on the one database that holds the entries: the DataSource behind this one";

    private static final String POOLER =
            "connections do not keep a session of the database each: a pooler between lends sessions for one"
                    + " transaction or statement, as PgBouncer does with pool_mode=transaction. Statements that were prepared, settings"
                    + " and locks of a session then belong to others too. Connect to the database itself, or to a pooler that keeps a"
                    + " session for each connection, as with pool_mode=session";

    private static final Pattern BY_CATALOG = Pattern.compile("jdbc:[a-z:-]*(mysql|mariadb):");

    /** Of HikariCP; of DBCP, Tomcat's pool and Spring; of H2. */
    private static final List<String> URL_GETTERS = List.of("getJdbcUrl", "getUrl", "getURL");

    private static final Logger log = LoggerFactory.getLogger(SourceCheck.class);

    /** How long to wait for a second connection while the first is held. */
    private static final Duration AT_ONCE = Duration.ofSeconds(1);

    /** How often two connections are asked for their sessions. */
    private static final int LOOKS = 10;

    private SourceCheck() {}

    /** What a connection shows of where it leads and whose it is. */
    private record Seen(Connection driver, String place, String session, boolean autoCommit) {
        static Seen of(Connection connection, SqlDatabase kind) throws SQLException {
            return new Seen(
                    Pool.driver(connection),
                    SourceCheck.place(connection),
                    SourceCheck.session(connection, kind),
                    connection.getAutoCommit());
        }
    }

    /** Throws {@link StoreRejected} if it must not be used. */
    public static void check(DataSource dataSource, SqlDatabase kind) {
        checkName(dataSource);
        CompletableFuture<Seen> other = new CompletableFuture<>();
        Seen here;
        boolean atOnce;
        try (Connection connection = dataSource.getConnection()) {
            here = Seen.of(connection, kind);
            start(() -> look(dataSource, kind, other));
            atOnce = isThere(other);
        } catch (SQLException e) {
            throw new StoreUnavailable("no connection to the database", e);
        }
        Seen there = await(other);
        if (!here.place.equals(there.place)) {
            throw refused(dataSource, "picks its database by thread: " + here.place + ", elsewhere " + there.place);
        }
        if (here.autoCommit != there.autoCommit) {
            throw refused(dataSource, "hands out the caller's transaction, which would be committed here");
        }
        if (!atOnce || here.session.isEmpty()) {
            return;
        }
        if (here.session.equals(there.session) && here.driver == there.driver) {
            throw refused(dataSource, "has one connection for all threads");
        }
        if (here.session.equals(there.session) || isLent(dataSource, kind)) {
            throw new StoreRejected(POOLER, null);
        }
    }

    /**
     * Whether two connections share a session, or one changes its own. An idle pooler lends both the session that was used last; one that
     * others use too lends any, so one look is not enough.
     */
    private static boolean isLent(DataSource dataSource, SqlDatabase kind) {
        try (Connection one = dataSource.getConnection();
                Connection other = dataSource.getConnection()) {
            Set<String> ofOne = new HashSet<>();
            Set<String> ofOther = new HashSet<>();
            for (int i = 0; i < LOOKS; i++) {
                ofOne.add(sessionNow(one, kind));
                ofOther.add(sessionNow(other, kind));
            }
            return ofOne.size() > 1 || ofOther.size() > 1 || ofOne.equals(ofOther);
        } catch (SQLException e) {
            throw new StoreUnavailable("no connection to the database", e);
        }
    }

    /** Outside of a transaction, for which a pooler would keep it. */
    private static String sessionNow(Connection connection, SqlDatabase kind) throws SQLException {
        String session = session(connection, kind);
        if (!connection.getAutoCommit()) {
            connection.rollback();
        }
        return session;
    }

    /** A pool of one connection gives another only when it has the first back: that is well. */
    private static boolean isThere(CompletableFuture<Seen> other) {
        try {
            other.get(AT_ONCE.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException | ExecutionException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static Seen await(CompletableFuture<Seen> other) {
        try {
            return other.join();
        } catch (CompletionException e) {
            throw new StoreUnavailable("no connection to the database", e);
        }
    }

    private static void look(DataSource dataSource, SqlDatabase kind, CompletableFuture<Seen> seen) {
        try (Connection connection = dataSource.getConnection()) {
            seen.complete(Seen.of(connection, kind));
        } catch (SQLException | RuntimeException | Error e) {
            seen.completeExceptionally(e);
        }
    }

    private static StoreRejected refused(DataSource dataSource, String why) {
        return new StoreRejected(
                "the DataSource " + dataSource.getClass().getName() + " " + why + ". " + INSTEAD, null);
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "onlyonce-check");
        thread.setDaemon(true);
        thread.start();
    }

    private static void checkName(DataSource dataSource) {
        for (DataSource source : chain(dataSource)) {
            for (Class<?> type = source.getClass(); type != null; type = type.getSuperclass()) {
                String why = BY_NAME.get(type.getName());
                if (why != null) {
                    throw refused(source, why);
                }
            }
        }
    }

    /** A DataSource and those that it is a proxy of. */
    static List<DataSource> chain(DataSource dataSource) {
        List<DataSource> chain = new ArrayList<>();
        @Nullable DataSource source = dataSource;
        // A proxy around a proxy around a proxy is likely enough; a circle is not.
        for (int depth = 0; source != null && depth < 10; depth++) {
            chain.add(source);
            source = behind(source);
        }
        return chain;
    }

    /** The URLs that a DataSource tells: with all settings, which a connection does not tell. Pools have no common type. */
    static List<String> urls(DataSource dataSource) {
        List<String> urls = new ArrayList<>();
        for (DataSource source : chain(dataSource)) {
            for (String getter : URL_GETTERS) {
                try {
                    if (source.getClass().getMethod(getter).invoke(source) instanceof String url) {
                        urls.add(url);
                    }
                } catch (ReflectiveOperationException | RuntimeException e) {
                    log.debug("{} has no {}", source.getClass(), getter, e);
                }
            }
        }
        return urls;
    }

    /** What Spring's proxies stand in front of. */
    private static @Nullable DataSource behind(DataSource source) {
        try {
            Method getter = source.getClass().getMethod("getTargetDataSource");
            return getter.invoke(source) instanceof DataSource target && target != source ? target : null;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    private static String session(Connection connection, SqlDatabase kind) throws SQLException {
        if (kind == SqlDatabase.SQLITE) {
            return "";
        }
        String sql = switch (kind) {
            case POSTGRESQL -> "SELECT pg_backend_pid()";
            case H2 -> "SELECT SESSION_ID()";
            case MYSQL, SQLITE -> "SELECT CONNECTION_ID()";
        };
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    /** Which schema of which database a connection leads to. */
    public static String schema(Connection connection) throws SQLException {
        return place(connection) + " " + connection.getCatalog() + " " + connection.getSchema();
    }

    /** Which database a connection leads to, without a round trip; no credentials, which may change. */
    static String place(Connection connection) throws SQLException {
        return Url.of(connection).place(connection);
    }

    /**
     * A driver's URL, taken apart.
     *
     * @param server the part that says which database it leads to
     * @param byCatalog whether a connection can be switched to another database: on MySQL and MariaDB
     */
    record Url(String server, boolean byCatalog) {
        static Url of(Connection connection) throws SQLException {
            String url = connection.getMetaData().getURL();
            String server = url == null ? "" : url.replaceAll("[?;].*", "");
            return new Url(server, BY_CATALOG.matcher(server).lookingAt());
        }

        /** The drivers know which database a connection was switched to. */
        String place(Connection connection) throws SQLException {
            return byCatalog ? server + ", database " + connection.getCatalog() : server;
        }
    }

    /** For databases that have this level; PostgreSQL reads what is committed all the same. */
    static void checkIsolation(Connection connection) throws SQLException {
        if (connection.getTransactionIsolation() == Connection.TRANSACTION_READ_UNCOMMITTED) {
            throw new StoreRejected(
                    "the DataSource's connections read what others have not committed: an answer could be given that is undone"
                            + " later. Use READ COMMITTED or a stricter isolation level",
                    null);
        }
    }
}
