package dev.onlyonce.spring.store;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.InvalidSettings;
import java.io.Closeable;
import java.io.IOException;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/**
 * A pool for {@code onlyonce.store.url=jdbc:…}, for applications that have no {@link DataSource}, as those with R2DBC. It is no bean of
 * that type: Spring Boot and the application would take it for theirs.
 */
final class OwnDataSource implements Closeable {
    private static final String POOL = "com.zaxxer.hikari.HikariDataSource";
    /** Claims and settlements travel in groups, in two lanes; the rest is background work. */
    private static final int CONNECTIONS = 8;

    /** Not of its own type: Spring looks at all members of a bean, and most applications do without HikariCP. */
    private @Nullable Closeable pool;

    static boolean isFor(@Nullable String url) {
        return url != null && url.startsWith("jdbc:");
    }

    /** Opens it; throws {@link InvalidSettings}. */
    DataSource open(OnlyonceProperties.StoreSettings settings) {
        if (!ClassUtils.isPresent(POOL, OwnDataSource.class.getClassLoader())) {
            throw new InvalidSettings(
                    "onlyonce.store.url is a JDBC URL, but there is no pool of connections on the class path",
                    "Add com.zaxxer:HikariCP and the JDBC driver of the database.",
                    null);
        }
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(Objects.requireNonNull(settings.url()));
        config.setUsername(settings.user());
        config.setPassword(settings.password());
        config.setMaximumPoolSize(CONNECTIONS);
        config.setConnectionTimeout(settings.waitMax().toMillis());
        config.setPoolName("onlyonce");
        try {
            HikariDataSource opened = new HikariDataSource(config);
            pool = opened;
            return opened;
        } catch (RuntimeException e) {
            throw new InvalidSettings(
                    "The entries cannot be kept where onlyonce.store.url says: " + e.getMessage(),
                    "Check the URL, the user and the password, that the database can be reached, and that its JDBC driver is on the"
                            + " class path.",
                    e);
        }
    }

    @Override
    public void close() throws IOException {
        if (pool != null) {
            pool.close();
        }
    }
}
