package dev.onlyonce.sql;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A DataSource on whose connections the first commit by {@link Connection#commit} loses its answer, or the connection. */
public final class LostCommits implements DataSource {
    private final DataSource dataSource;
    private final boolean committed;
    private final AtomicBoolean lost = new AtomicBoolean();

    /**
     * Wraps it.
     *
     * @param committed whether the commit happens before its answer is lost
     */
    public LostCommits(DataSource dataSource, boolean committed) {
        this.dataSource = dataSource;
        this.committed = committed;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = dataSource.getConnection();
        return (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    boolean lose = method.getName().equals("commit") && lost.compareAndSet(false, true);
                    if (lose && !committed) {
                        connection.rollback();
                    }
                    if (!lose || committed) {
                        try {
                            Object answer = method.invoke(connection, arguments);
                            if (!lose) {
                                return answer;
                            }
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    }
                    // The code is SQLite's for an error of input or output, which has no states.
                    throw new SQLException("the connection is lost", "08006", 10);
                });
    }

    @Override
    public Connection getConnection(String username, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return dataSource.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        dataSource.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        dataSource.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return dataSource.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        return dataSource.getParentLogger();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return dataSource.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return dataSource.isWrapperFor(type);
    }
}
