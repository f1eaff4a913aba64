package dev.onlyonce.sql.internal.connections;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A connection that prepares each text once, and takes a closed statement out again for the next one. SQLite's driver keeps no
 * statements, and reading one of ours takes it longer than running it. Used by one thread at a time.
 */
final class PreparedOnce implements InvocationHandler {
    /** More than the texts that are not made up for one call, like those of listings. */
    private static final int KEPT_MAX = 64;

    /** What every transaction of ours begins and ends with. */
    private static final Set<String> FREQUENT = Set.of("BEGIN IMMEDIATE", "COMMIT");

    private final Connection connection;
    private final Map<String, PreparedStatement> idle = new LinkedHashMap<>();

    private PreparedOnce(Connection connection) {
        this.connection = connection;
    }

    static Connection on(Connection connection) {
        return proxy(Connection.class, new PreparedOnce(connection));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        if (method.getName().equals("prepareStatement") && arguments != null && arguments.length == 1) {
            return prepare((String) arguments[0]);
        }
        if (method.getName().equals("createStatement") && arguments == null) {
            return proxy(Statement.class, new Plain(connection.createStatement()));
        }
        return call(connection, method, arguments);
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        PreparedStatement kept = idle.remove(sql);
        Kept statement = new Kept(sql, kept == null ? connection.prepareStatement(sql) : kept);
        return proxy(PreparedStatement.class, statement);
    }

    private void keep(String sql, PreparedStatement statement) throws SQLException {
        PreparedStatement other = idle.put(sql, statement);
        if (other != null) {
            other.close();
        }
        if (idle.size() > KEPT_MAX) {
            Iterator<PreparedStatement> oldest = idle.values().iterator();
            oldest.next().close();
            oldest.remove();
        }
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
    }

    /** A statement without parameters: it begins and ends transactions by statements that are kept. */
    private final class Plain implements InvocationHandler {
        private final Statement statement;

        Plain(Statement statement) {
            this.statement = statement;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            if (method.getName().equals("execute")
                    && arguments != null
                    && arguments.length == 1
                    && FREQUENT.contains((String) arguments[0])) {
                try (PreparedStatement kept = prepare((String) arguments[0])) {
                    kept.executeUpdate();
                }
                return false;
            }
            return call(statement, method, arguments);
        }
    }

    /** A statement that is in use. */
    private final class Kept implements InvocationHandler {
        private final String sql;
        private final PreparedStatement statement;
        private @Nullable ResultSet rows;
        /** Whether the next user must not get it. */
        private boolean spent;

        private boolean closed;

        Kept(String sql, PreparedStatement statement) {
            this.sql = sql;
            this.statement = statement;
        }

        @Override
        public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
            if (method.getName().equals("close")) {
                close();
                return null;
            }
            if (closed) {
                throw new SQLException("the statement is closed");
            }
            spent |= leavesTraces(method);
            try {
                Object answer = call(statement, method, arguments);
                if (answer instanceof ResultSet set) {
                    rows = set;
                }
                return answer;
            } catch (Throwable e) {
                // The driver may have let go of it.
                spent = true;
                throw e;
            }
        }

        /**
         * A batch that was begun, a limit on rows, and rows that nobody asked for outlast {@link PreparedStatement#clearParameters};
         * parameters do not.
         */
        private static boolean leavesTraces(Method method) {
            boolean parameterOrRun = method.getDeclaringClass() == PreparedStatement.class
                    && !method.getName().equals("addBatch")
                    && !method.getName().equals("execute");
            return !parameterOrRun && !method.getName().startsWith("get");
        }

        /** Rows that are left open would keep the database as it was then. */
        private void close() throws SQLException {
            if (closed) {
                return;
            }
            closed = true;
            if (spent || statement.isClosed()) {
                statement.close();
            } else {
                if (rows != null) {
                    rows.close();
                }
                statement.clearParameters();
                keep(sql, statement);
            }
        }
    }
}
