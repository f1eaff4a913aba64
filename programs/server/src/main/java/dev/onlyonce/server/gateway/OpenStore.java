package dev.onlyonce.server.gateway;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool;
import dev.onlyonce.server.config.CacheSettings;
import dev.onlyonce.server.config.OwnerOnly;
import dev.onlyonce.server.config.Settings;
import dev.onlyonce.server.config.StoreSettings;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;
import dev.onlyonce.store.StoreUnavailable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A store as configured, with the connections that belong to it. */
public final class OpenStore implements AutoCloseable {
    /** Two lanes of the group commit, and a few for heartbeats, sweeps and operators. More would only queue in the database. */
    private static final int CONNECTIONS = 8;

    /** How the URLs of SQLite databases begin. */
    public static final String SQLITE = "jdbc:sqlite:";

    private static final Duration CONNECT_MAX = Duration.ofSeconds(3);
    private static final Duration VALIDATE_MAX = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(OpenStore.class);

    private final Store store;
    private final @Nullable HikariDataSource pool;

    private OpenStore(Store store, @Nullable HikariDataSource pool) {
        this.store = store;
        this.pool = pool;
    }

    /**
     * Opens the store.
     *
     * @throws dev.onlyonce.store.StoreException if it cannot be reached, or its tables are not what this release needs
     */
    public static OpenStore open(StoreSettings settings, Path data) {
        return open(settings, data, settings.schema());
    }

    /**
     * The store of a gateway, behind the shared cache if one is configured.
     *
     * @throws dev.onlyonce.store.StoreException as {@link #open(StoreSettings, Path)}
     * @throws IllegalArgumentException if the settings of the cache are wrong
     */
    public static OpenStore open(Settings settings) {
        OpenStore opened = open(settings.store(), settings.data());
        CacheSettings cache = settings.cache();
        if (cache == null) {
            return opened;
        }
        try {
            StoreProvider provider = StoreProvider.of(cache.url()).orElseThrow();
            Encryption encryption = settings.store().encryption();
            return new OpenStore(provider.cache(opened.store, cache.options(encryption)), opened.pool);
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /** The same with another way to treat the tables. */
    public static OpenStore open(StoreSettings settings, Path data, SchemaMode schema) {
        String url = settings.url();
        if (url == null) {
            ownerOnly(data);
            Path file = data.resolve("onlyonce.db");
            ownersFile(file);
            return new OpenStore(build(SqlStore.builder(file).schema(schema), settings), null);
        }
        Optional<StoreProvider> provider = StoreProvider.of(url);
        if (provider.isPresent()) {
            StoreOptions options = new StoreOptions(
                    url,
                    settings.user(),
                    settings.password(),
                    settings.encryption(),
                    schema == SchemaMode.CREATE,
                    settings.audit());
            return new OpenStore(provider.get().open(options), null);
        }
        if (url.startsWith(SQLITE)) {
            if (!Files.exists(file(url))) {
                ownersFile(file(url));
            }
            return new OpenStore(build(SqlStore.builder(file(url)).schema(schema), settings), null);
        }
        HikariDataSource pool = connect(settings, url);
        try {
            return new OpenStore(build(SqlStore.builder(pool).schema(schema), settings), pool);
        } catch (RuntimeException e) {
            pool.close();
            throw e;
        }
    }

    /** The file of a {@code jdbc:sqlite:} URL. */
    public static Path file(String url) {
        return Path.of(url.substring(SQLITE.length()));
    }

    private static SqlStore build(SqlStore.Builder builder, StoreSettings settings) {
        builder.audit(settings.audit());
        return settings.encryption() == null
                ? builder.build()
                : builder.encryption(settings.encryption()).build();
    }

    private static HikariDataSource connect(StoreSettings settings, String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.replaceFirst("^jdbc:mysql:", "jdbc:mariadb:"));
        config.setUsername(settings.user());
        config.setPassword(settings.password());
        config.setMaximumPoolSize(CONNECTIONS);
        config.setConnectionTimeout(CONNECT_MAX.toMillis());
        config.setValidationTimeout(VALIDATE_MAX.toMillis());
        config.setPoolName("store");
        try {
            return new HikariDataSource(config);
        } catch (HikariPool.PoolInitializationException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new StoreUnavailable(
                    "the database " + settings + " cannot be reached: " + cause.getMessage() + hint(cause), cause);
        }
    }

    /** The accounts that MySQL 8 makes by default send their password only over TLS, or encrypted with a key of the server. */
    private static String hint(Throwable cause) {
        return String.valueOf(cause.getMessage()).contains("RSA public key")
                ? ". Add sslMode=verify-full to the URL, or allowPublicKeyRetrieval=true if you trust the network"
                : "";
    }

    /**
     * Makes the directory if need be, for its owner only.
     *
     * @throws IllegalArgumentException if it is there and others can change what is in it
     */
    public static void ownerOnly(Path directory) {
        try {
            if (Files.isDirectory(directory)) {
                OwnerOnly.checkDirectory(directory);
            } else {
                Path parent = directory.toAbsolutePath().getParent();
                if (parent != null) {
                    Files.createDirectories(parent);
                }
                Files.createDirectory(
                        directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the data directory " + directory + " cannot be made or read", e);
        }
    }

    /** It holds responses, and the directory may be older than we are. What SQLite puts beside it gets the same rights. */
    private static void ownersFile(Path file) {
        if (!Files.exists(file)) {
            log.info("There is no database {}: an empty one is made, which knows no keys", file);
        }
        Set<PosixFilePermission> owner = PosixFilePermissions.fromString("rw-------");
        try {
            if (Files.exists(file)) {
                Files.setPosixFilePermissions(file, owner);
            } else {
                Files.createFile(file, PosixFilePermissions.asFileAttribute(owner));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the database " + file + " cannot be made its owner's alone", e);
        }
    }

    /** The store itself. */
    public Store store() {
        return store;
    }

    @Override
    public void close() {
        store.close();
        if (pool != null) {
            pool.close();
        }
    }
}
