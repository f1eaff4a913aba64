package dev.onlyonce.sql.internal.connections;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.store.StoreRejected;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The caller's DataSource")
class PoolTest {
    @TempDir
    Path folder;

    private final AtomicInteger asked = new AtomicInteger();
    private Files files;

    @BeforeEach
    void open() {
        files = new Files(url("one.db"));
    }

    private String url(String file) {
        return "jdbc:sqlite:" + folder.resolve(file);
    }

    private HikariDataSource hikari() {
        HikariConfig config = new HikariConfig();
        config.setDataSource(files);
        config.setMaximumPoolSize(2);
        // Connections are made when they are asked for.
        config.setMinimumIdle(0);
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }

    @Test
    @DisplayName("is asked where a connection leads once for each connection of the driver")
    void asksOnce() throws SQLException {
        try (HikariDataSource hikari = hikari()) {
            Pool pool = new Pool(hikari, false);
            for (int i = 0; i < 50; i++) {
                Source.Borrowed first = pool.borrow(Source.Use.READ);
                Source.Borrowed second = pool.borrow(Source.Use.READ);
                first.giveBack(true);
                second.giveBack(true);
            }
        }
        assertThat(asked).hasValue(2);
    }

    @Test
    @DisplayName("is refused when a later connection leads elsewhere")
    void elsewhere() throws SQLException {
        try (HikariDataSource hikari = hikari()) {
            Pool pool = new Pool(hikari, false);
            Source.Borrowed first = pool.borrow(Source.Use.READ);
            files.url = url("other.db");
            assertThatThrownBy(() -> pool.borrow(Source.Use.READ))
                    .isInstanceOf(StoreRejected.class)
                    .hasMessageContaining("other.db");
            first.giveBack(true);
        }
    }

    @Test
    @DisplayName("is asked each time if its connections are not a pool's, since they may lead elsewhere")
    void withoutPool() throws SQLException {
        Pool pool = new Pool(files, false);
        pool.borrow(Source.Use.READ).giveBack(true);
        files.url = url("other.db");
        assertThatThrownBy(() -> pool.borrow(Source.Use.READ)).isInstanceOf(StoreRejected.class);
        assertThat(asked).hasValue(2);
    }

    @Test
    @DisplayName("may have connections that let nobody look behind them")
    void notUnwrapped() throws SQLException {
        files.unwraps = false;
        Pool pool = new Pool(files, false);
        pool.borrow(Source.Use.READ).giveBack(true);
        pool.borrow(Source.Use.READ).giveBack(true);
        assertThat(asked).hasValue(2);
    }

    /** Connects to a file that can be changed, and counts how often connections are asked for their URL. */
    private final class Files implements DataSource {
        private String url;
        private boolean unwraps = true;

        Files(String url) {
            this.url = url;
        }

        @Override
        public Connection getConnection() throws SQLException {
            return watched(Connection.class, DriverManager.getConnection(url), this::watchedMetaData);
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
        }

        @Override
        public @Nullable PrintWriter getLogWriter() {
            return null;
        }

        @Override
        public void setLogWriter(PrintWriter out) {}

        @Override
        public int getLoginTimeout() {
            return 0;
        }

        @Override
        public void setLoginTimeout(int seconds) {}

        @Override
        public Logger getParentLogger() throws SQLFeatureNotSupportedException {
            throw new SQLFeatureNotSupportedException();
        }

        @Override
        public <T> T unwrap(Class<T> type) throws SQLException {
            throw new SQLException("not a wrapper");
        }

        @Override
        public boolean isWrapperFor(Class<?> type) {
            return false;
        }

        private Object watchedMetaData(Object answer) {
            return answer instanceof DatabaseMetaData data ? watched(DatabaseMetaData.class, data, a -> a) : answer;
        }

        private <T> T watched(Class<T> type, T target, UnaryOperator<Object> answer) {
            Object watched =
                    Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                        asked.addAndGet(method.getName().equals("getURL") ? 1 : 0);
                        if (method.getName().equals("unwrap") && !unwraps) {
                            throw new SQLException("not a wrapper");
                        }
                        try {
                            return method.getName().equals("unwrap")
                                    ? self
                                    : answer.apply(method.invoke(target, arguments));
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            return type.cast(watched);
        }
    }
}
