package dev.onlyonce.testkit.messages;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database that can be taken away and brought back: statements and commits of open transactions fail too. */
final class StoppableSource implements DataSource {
    private static final Set<String> REFUSED = Set.of("prepareStatement", "createStatement", "commit");

    private final DataSource source;
    private final AtomicInteger refused = new AtomicInteger();
    private volatile boolean stopped;

    StoppableSource(DataSource source) {
        this.source = source;
    }

    void stop() {
        stopped = true;
    }

    void start() {
        stopped = false;
    }

    /** How many calls failed because it was stopped. */
    int refused() {
        return refused.get();
    }

    private void check() throws SQLException {
        if (stopped) {
            refused.incrementAndGet();
            throw new SQLNonTransientConnectionException("the database is stopped", "08006");
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        check();
        return stoppable(source.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        check();
        return stoppable(source.getConnection(user, password));
    }

    private Connection stoppable(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                StoppableSource.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) -> {
                    if (REFUSED.contains(method.getName())) {
                        check();
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getTargetException();
                    }
                });
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return source.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        source.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        source.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return source.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return source.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return source.isWrapperFor(type);
    }
}
