package dev.onlyonce.spring.sample;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Lets the application lose its connection in the middle of a commit, when told to. */
final class LosingCommits implements BeanPostProcessor {
    private final AtomicReference<Loss> next = new AtomicReference<>(Loss.NOTHING);

    enum Loss {
        NOTHING,
        /** The commit does not arrive. */
        COMMIT,
        /** It arrives, and its acknowledgement is lost. */
        ANSWER,
        /** It arrives, and its wait for a standby is cancelled, as PostgreSQL reports it. */
        STANDBY
    }

    /** What the next commit of a transaction loses. */
    void lose(Loss loss) {
        next.set(loss);
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        return bean instanceof DataSource dataSource
                ? new DelegatingDataSource(dataSource) {
                    @Override
                    public Connection getConnection() throws SQLException {
                        return losing(super.getConnection());
                    }
                }
                : bean;
    }

    private Connection losing(Connection connection) {
        AtomicReference<SQLWarning> warning = new AtomicReference<>();
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    Loss loss = method.getName().equals("commit") ? next.getAndSet(Loss.NOTHING) : Loss.NOTHING;
                    if (method.getName().equals("getWarnings") && warning.get() != null) {
                        return warning.get();
                    }
                    try {
                        if (loss == Loss.COMMIT) {
                            connection.rollback();
                        } else if (loss == Loss.NOTHING) {
                            return method.invoke(connection, arguments);
                        } else {
                            connection.commit();
                        }
                        if (loss == Loss.STANDBY) {
                            warning.set(new SQLWarning("cancelled", "01000"));
                            return null;
                        }
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                    throw new SQLException("the connection is lost", "08006");
                });
    }
}
