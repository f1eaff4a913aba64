package dev.onlyonce.sql.transactions;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    private static final Logger log = LoggerFactory.getLogger(GuardedConnection.class);

    private final Connection connection;
    /** What the transaction is executing just now; for {@link #cancel}. */
    private final Set<Statement> executing = ConcurrentHashMap.newKeySet();

    private GuardedConnection(Connection connection) {
        this.connection = connection;
    }

    /** The same connection, on which whatever would end the transaction throws {@link IllegalStateException}. */
    public static Connection of(Connection connection) {
        return proxy(Connection.class, new Guard(new GuardedConnection(connection)));
    }

    private record Guard(GuardedConnection guarded) implements InvocationHandler {
        @Override
        public @Nullable Object invoke(Object self, Method method, Object @Nullable [] arguments) throws Throwable {
            return guarded.invoke((Connection) self, method, arguments);
        }
    }

    private @Nullable Object invoke(Connection self, Method method, Object @Nullable [] arguments) throws Throwable {
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
        return guarded(self, call(connection, method, arguments));
    }

    /** Cancels what is executing on a guarded connection, from another thread. May block: drivers ask the server. */
    public static void cancel(Connection guarded) {
        for (Statement statement : guardOf(guarded).executing) {
            try {
                statement.cancel();
            } catch (SQLException e) {
                log.warn("A statement of a handler that takes too long could not be cancelled", e);
            }
        }
    }

    /** Cuts a guarded connection, from another thread. May block. */
    public static void cut(Connection guarded) {
        try {
            guardOf(guarded).connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.warn("The connection of a handler that takes too long could not be cut", e);
        }
    }

    private static GuardedConnection guardOf(Connection guarded) {
        return ((Guard) Proxy.getInvocationHandler(guarded)).guarded;
    }

    /** What leads back to the connection leads to the guarded one. */
    private @Nullable Object guarded(Connection guard, @Nullable Object made) {
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

    private <T> T guarded(Class<T> type, Connection guard, T made) {
        return proxy(type, (self, method, arguments) -> {
            if (method.getName().equals("getConnection")) {
                return guard;
            }
            boolean executes = method.getName().startsWith("execute");
            if (executes || method.getName().equals("addBatch")) {
                refuseEndingText(arguments);
            }
            return executes && made instanceof Statement statement
                    ? execute(statement, method, arguments)
                    : call(made, method, arguments);
        });
    }

    private @Nullable Object execute(Statement statement, Method method, Object @Nullable [] arguments)
            throws Throwable {
        executing.add(statement);
        try {
            return call(statement, method, arguments);
        } finally {
            executing.remove(statement);
        }
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
