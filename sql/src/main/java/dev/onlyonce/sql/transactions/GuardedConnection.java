package dev.onlyonce.sql.transactions;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A connection whose transaction is somebody else's to end. For this module only. */
public final class GuardedConnection {
    private static final Set<String> ENDING = Set.of("commit", "setAutoCommit", "close", "abort");

    private GuardedConnection() {}

    /** The same connection, on which whatever would end the transaction throws {@link IllegalStateException}. */
    public static Connection of(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                GuardedConnection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (self, method, arguments) -> call(connection, method, arguments));
    }

    private static @Nullable Object call(Connection connection, Method method, Object @Nullable [] arguments)
            throws Throwable {
        boolean rollsAllBack = method.getName().equals("rollback") && arguments == null;
        if (rollsAllBack || ENDING.contains(method.getName())) {
            throw new IllegalStateException(
                    "an action must not end the transaction that it runs in: " + method.getName());
        }
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
