package dev.onlyonce.sql;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** DataSources that do something of their own on the way to a real one. */
public final class Sources {
    private Sources() {}

    /** Gives a connection. */
    @FunctionalInterface
    public interface Opening {
        Connection open() throws SQLException;
    }

    /** Looks at a statement's text before it is executed, and may throw. */
    @FunctionalInterface
    public interface Watch {
        void see(String sql) throws SQLException;
    }

    /** A DataSource whose connections come from there. */
    public static DataSource of(Opening opening) {
        return proxy(DataSource.class, (self, method, arguments) -> {
            if (method.getName().equals("getConnection")) {
                return opening.open();
            }
            throw new UnsupportedOperationException(method.getName());
        });
    }

    /** Watches what is executed by plain statements. */
    public static DataSource watched(DataSource dataSource, Watch watch) {
        return of(() -> {
            Connection connection = dataSource.getConnection();
            return proxy(Connection.class, (self, method, arguments) -> {
                Object answer = invoke(connection, method, arguments);
                return method.getName().equals("createStatement") ? watched((Statement) answer, watch) : answer;
            });
        });
    }

    private static Statement watched(Statement statement, Watch watch) {
        return proxy(Statement.class, (self, method, arguments) -> {
            if (method.getName().startsWith("execute") && arguments != null) {
                watch.see((String) arguments[0]);
            }
            return invoke(statement, method, arguments);
        });
    }

    /** A connection that somebody else goes on with after it was closed. */
    public static Connection unclosed(Connection connection) {
        return proxy(
                Connection.class,
                (self, method, arguments) ->
                        method.getName().equals("close") ? null : invoke(connection, method, arguments));
    }

    public static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(Sources.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    public static @Nullable Object invoke(Object target, Method method, Object @Nullable [] arguments)
            throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
