package dev.onlyonce.spring.store;

import dev.onlyonce.FailureRule;
import dev.onlyonce.Listener;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.spring.operations.Development;
import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.spring.operations.OperationFactory;
import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;
import dev.onlyonce.store.Time;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/** The store on the application's {@link DataSource} (or in a SQLite file) and the engine on it. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(name = "onlyonce.enabled", matchIfMissing = true)
@Conditional(StoreNeeded.class)
@EnableConfigurationProperties(OnlyonceProperties.class)
class EngineConfiguration {
    private static final Logger log = LoggerFactory.getLogger(EngineConfiguration.class);
    /** Who clicks twice wants to see the answer; in production a waiting duplicate holds a thread. */
    private static final Duration DEVELOPER_WAITS = Duration.ofSeconds(2);

    static final String SQLITE_DRIVER = "org.sqlite.JDBC";

    /** Entries, unless the application brings a store of its own. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(Store.class)
    Store onlyonceStore(
            OnlyonceProperties properties,
            ObjectProvider<DataSource> dataSources,
            ObjectProvider<Encryption> encryption,
            Time time,
            OwnDataSource own,
            Environment environment) {
        checkOne(properties.store());
        boolean create = properties.store().schema() == SchemaMode.CREATE;
        AuditLevel audit = properties.store().audit();
        Store store = DescribedStore.of(properties.store(), environment)
                .map(described ->
                        openUrl(described.options(encryption.getIfAvailable(), create, audit), described.prefix()))
                .orElseGet(() -> OwnDataSource.isFor(properties.store().url())
                        ? open(
                                SqlStore.builder(own.open(properties.store()))
                                        .schema(properties.store().schema())
                                        .audit(audit),
                                encryption,
                                "the database of onlyonce.store.url")
                        : open(properties, dataSources, encryption, time));
        OnlyonceProperties.CacheSettings cache = properties.cache();
        return cache.url() == null ? store : cached(store, cache, cache.url(), encryption.getIfAvailable());
    }

    /** Closed after the store that uses it. */
    @Bean(destroyMethod = "close")
    OwnDataSource onlyonceOwnDataSource() {
        return new OwnDataSource();
    }

    private static Store cached(
            Store store, OnlyonceProperties.CacheSettings settings, String url, @Nullable Encryption encryption) {
        String name = settings.name() == null ? "" : settings.name();
        CacheOptions options = new CacheOptions(url, name, encryption, settings.secret());
        try {
            return StoreProvider.of(url)
                    .orElseThrow(
                            () -> new IllegalArgumentException("no module on the class path has a cache for this URL"))
                    .cache(store, options);
        } catch (IllegalArgumentException e) {
            store.close();
            throw new InvalidSettings(
                    "The shared cache " + options + " cannot be used: " + e.getMessage(),
                    "Set onlyonce.cache.url to a URL like redis://127.0.0.1:6379 with dev.onlyonce:onlyonce-redis on the class path,"
                            + " onlyonce.cache.name to a name for the store, and onlyonce.cache.secret.",
                    e);
        }
    }

    private static Store open(
            OnlyonceProperties properties,
            ObjectProvider<DataSource> dataSources,
            ObjectProvider<Encryption> encryption,
            Time time) {
        if (properties.store().memory()) {
            return inMemory(time);
        }
        OnlyonceProperties.StoreSettings settings = properties.store();
        boolean create = settings.schema() == SchemaMode.CREATE;
        if (settings.url() != null) {
            return openUrl(
                    new StoreOptions(
                            settings.url(),
                            settings.user(),
                            settings.password(),
                            encryption.getIfAvailable(),
                            create,
                            settings.audit()),
                    "onlyonce.store.url");
        }

        String sqlite = properties.store().sqlite();
        AuditLevel audit = properties.store().audit();
        if (sqlite != null) {
            return openFile(sqlite, audit, encryption, "onlyonce.store.sqlite");
        }
        DataSource dataSource = dataSources.getIfUnique();
        if (dataSource != null) {
            return open(
                    SqlStore.builder(dataSource)
                            .schema(properties.store().schema())
                            .audit(audit),
                    encryption,
                    "the application's DataSource");
        }
        if (dataSources.stream().findAny().isPresent()) {
            throw new InvalidSettings(
                    "There are several DataSources and none of them is @Primary",
                    "Mark one as @Primary, or define a bean of type dev.onlyonce.store.Store on the right one.",
                    null);
        }
        return openFile("onlyonce.db", audit, encryption, "a SQLite file, because there is no DataSource");
    }

    private static void checkOne(OnlyonceProperties.StoreSettings settings) {
        List<String> given = new ArrayList<>();
        if (settings.memory()) {
            given.add("onlyonce.store.memory");
        }
        if (settings.redis()) {
            given.add("onlyonce.store.redis");
        }
        if (settings.dynamodb()) {
            given.add("onlyonce.store.dynamodb");
        }
        if (settings.cassandra()) {
            given.add("onlyonce.store.cassandra");
        }
        if (settings.sqlite() != null) {
            given.add("onlyonce.store.sqlite");
        }
        if (settings.url() != null) {
            given.add("onlyonce.store.url");
        }
        if (given.size() > 1) {
            throw new InvalidSettings(
                    "Both " + given.get(0) + " and " + given.get(1) + " are set",
                    "Leave one of them: entries are kept in one place; memory is for tests.",
                    null);
        }
    }

    private static Store openUrl(StoreOptions options, String setting) {
        StoreProvider provider = StoreProvider.of(options.url())
                .orElseThrow(() -> new InvalidSettings(
                        "No store on the class path opens " + setting + "=" + options,
                        "Add the module of that store (dev.onlyonce:onlyonce-redis for redis://…, onlyonce-dynamodb,"
                                + " onlyonce-cassandra). For an SQL database write a JDBC URL, or leave the setting out to use the"
                                + " application's DataSource.",
                        null));
        try {
            return provider.open(options);
        } catch (StoreException | IllegalArgumentException e) {
            throw new InvalidSettings(
                    "The entries cannot be kept in " + options + ": " + e.getMessage(),
                    "Check " + setting + ", the user and the password, and that the server can be reached.",
                    e);
        }
    }

    private static Store inMemory(Time time) {
        log.warn("Entries are kept in memory and end with this process: after a restart a retry runs again."
                + " onlyonce.store=memory is for tests.");
        return new MemoryStore(time);
    }

    private static SqlStore openFile(
            String file, AuditLevel audit, ObjectProvider<Encryption> encryption, String where) {
        if (!ClassUtils.isPresent(SQLITE_DRIVER, null)) {
            throw new InvalidSettings(
                    "The entries cannot be kept in " + where + ": SQLite's driver is not on the class path",
                    "Add the dependency org.xerial:sqlite-jdbc; onlyonce.store.sqlite names the file (" + file
                            + " now). Or configure a DataSource, or set onlyonce.store=memory for tests.",
                    null);
        }
        return open(SqlStore.builder(Path.of(file)).audit(audit), encryption, where);
    }

    private static SqlStore open(SqlStore.Builder builder, ObjectProvider<Encryption> encryption, String where) {
        encryption.ifAvailable(builder::encryption);
        try {
            return builder.build();
        } catch (StoreException e) {
            throw new InvalidSettings(
                    "The entries cannot be kept in " + where + ": " + e.getMessage(),
                    "Check that the database can be reached and is PostgreSQL, MySQL, MariaDB, SQLite or H2 (with its driver on"
                            + " the class path), that its user may create tables (or set onlyonce.store.schema=validate and"
                            + " create them yourself), or define a bean of type dev.onlyonce.store.Store. In tests,"
                            + " onlyonce.store=memory needs no database.",
                    e);
        }
    }

    /** With the keys of the configuration; an application that keeps them elsewhere brings a bean of its own. */
    @Bean
    @ConditionalOnMissingBean
    @Conditional(EncryptionConfigured.class)
    Encryption onlyonceEncryption(OnlyonceProperties properties) {
        return EncryptionKeys.read(properties.encryption());
    }

    /** Whether anything is said about encryption: half a configuration must not pass for none. */
    static class EncryptionConfigured implements Condition {
        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return Binder.get(context.getEnvironment())
                    .bind("onlyonce.encryption", Bindable.mapOf(String.class, Object.class))
                    .isBound();
        }
    }

    /** Keys that nobody uses would leave answers in plain text that are believed to be sealed. */
    private static void checkSealed(OnlyonceProperties properties, Store store, ObjectProvider<Encryption> encryption) {
        // In memory nothing is written down.
        boolean sealed = properties.store().memory() || store.isSealing();
        if (encryption.stream().findAny().isPresent() && !sealed) {
            throw new InvalidSettings(
                    "There are keys to encrypt stored results with, but the application's own Store does not use them",
                    "Give them to it: SqlStore.builder(…).encryption(…) with the bean of type dev.onlyonce.store.Encryption;"
                            + " or remove onlyonce.encryption.",
                    null);
        }
    }

    /** Time as the system has it. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Time onlyonceTime() {
        return Time.system();
    }

    /** What exceptions prove, unless the application knows better. */
    @Bean
    @ConditionalOnMissingBean
    FailureRule onlyonceFailureRule() {
        return SecurityFailures.isPresent()
                ? FailureRule.standard()
                        .after(thrown -> SecurityFailures.provesNoEffect(thrown)
                                ? Optional.of(new FailureRule.Verdict.NoEffect())
                                : Optional.empty())
                : FailureRule.standard();
    }

    @Bean
    OperationFactory onlyonceOperations(OnlyonceProperties properties, FailureRule failures, Environment environment) {
        boolean said = Binder.get(environment)
                .bind("onlyonce.wait-max", Duration.class)
                .isBound();
        Duration wait = said || !Development.isNamed(environment) ? properties.waitMax() : DEVELOPER_WAITS;
        return new OperationFactory(properties, wait, failures);
    }

    /** The beans that find out about unknown entries. */
    @Bean
    Reconcilers onlyonceReconcilers(ListableBeanFactory beans) {
        return new Reconcilers(beans);
    }

    /** The engine; its background work sweeps and purges on every node. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Onlyonce onlyonce(
            OnlyonceProperties properties,
            Store store,
            Time time,
            ObjectProvider<Listener> listeners,
            Reconcilers reconcilers,
            ObjectProvider<Encryption> encryption) {
        checkSealed(properties, store, encryption);
        try {
            Onlyonce.Builder builder = Onlyonce.builder(store)
                    .time(time)
                    .lease(properties.lease())
                    .callMax(properties.callMax())
                    .onLeaseLost(properties.onLeaseLost())
                    .retention(properties.retention())
                    .tombstone(properties.tombstone())
                    .waitMax(properties.waitMax())
                    .resultBytesMax(properties.resultBytesMax())
                    .sweepEvery(properties.store().sweepEvery())
                    .purgeEvery(properties.store().purgeEvery())
                    .storeWaitMax(properties.store().waitMax())
                    .cacheBytesMax(properties.store().cacheBytesMax())
                    .auditRetention(properties.store().auditRetention());
            if (properties.heldMax() != null) {
                builder.heldMax(properties.heldMax());
            }
            if (properties.node() != null) {
                builder.node(properties.node());
            }
            listeners.orderedStream().forEach(builder::listener);
            reconcilers.addTo(builder);
            return builder.build();
        } catch (IllegalArgumentException e) {
            throw new InvalidSettings(
                    "The configuration of onlyonce cannot work: " + e.getMessage(),
                    "Change onlyonce.* accordingly.",
                    e);
        }
    }
}
