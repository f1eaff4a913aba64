package dev.onlyonce.sql.transactions;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose transaction is somebody else's to end, and its statements. A driver's own classes, for which one has to ask by
 * {@code unwrap}, and the statement of a result set lead around it. For this module only.
 */
public final class GuardedConnection {
    private static final Set<String> ENDING = Set.of("commit", "setAutoCommit", "close", "abort");
    /** What ends a transaction, behind white space and comments. A rollback to a savepoint does not. */
    private static final Pattern ENDING_TEXT = Pattern.compile(
            "(?:\\s|;|--[^\\n]*(?:\\n|$)|/\\*.*?\\*/)*+(?:(?:COMMIT|END|ABORT|BEGIN|START\\s+TRANSACTION)\\b"
                    + "|ROLLBACK\\b(?!\\s+(?:(?:WORK|TRANSACTION)\\s+)?TO\\b)).*",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    private GuardedConnection() {}

    /** The same connection, on which whatever would end the transaction throws {@link IllegalStateException}. */
    public static Connection of(Connection connection) {
        return proxy(Connection.class, (self, method, arguments) -> {
            String name = method.getName();
            if ((name.equals("rollback") && arguments == null) || ENDING.contains(name)) {
                throw refusal(name);
            }
            if (name.startsWith("prepare")) {
                refuseEndingText(arguments);
            }
            if (name.equals("unwrap") && arguments != null && ((Class<?>) arguments[0]).isInstance(self)) {
                return self;
            }
            return guarded((Connection) self, call(connection, method, arguments));
        });
    }

    /** What leads back to the connection leads to the guarded one. */
    private static @Nullable Object guarded(Connection guard, @Nullable Object made) {
        if (made instanceof CallableStatement statement) {
            return guarded(CallableStatement.class, guard, statement);
        }
        if (made instanceof PreparedStatement statement) {
            return guarded(PreparedStatement.class, guard, statement);
        }
        if (made instanceof Statement statement) {
            return guarded(Statement.class, guard, statement);
        }
        return made instanceof DatabaseMetaData data ? guarded(DatabaseMetaData.class, guard, data) : made;
    }

    private static <T> T guarded(Class<T> type, Connection guard, T made) {
        return proxy(type, (self, method, arguments) -> {
            if (method.getName().equals("getConnection")) {
                return guard;
            }
            if (method.getName().startsWith("execute") || method.getName().equals("addBatch")) {
                refuseEndingText(arguments);
            }
            return call(made, method, arguments);
        });
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(GuardedConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static void refuseEndingText(Object @Nullable [] arguments) {
        if (arguments != null
                && arguments.length > 0
                && arguments[0] instanceof String sql
                && ENDING_TEXT.matcher(sql).matches()) {
            throw refusal(sql);
        }
    }

    private static IllegalStateException refusal(String how) {
        return new IllegalStateException("an action must not end the transaction that it runs in: " + how);
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
