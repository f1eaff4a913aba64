package dev.onlyonce.spring.store;

import dev.onlyonce.spring.OnlyonceProperties;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.StoreOptions;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.core.env.Environment;

/**
 * A server that an application has described for Spring, as the URL of a store. Reads the settings themselves: the application need not
 * have the library that they are for.
 */
interface DescribedStore {
    /** What the names of its settings begin with. */
    String prefix();

    /**
     * How to open it; throws {@code InvalidSettings} for what the store cannot do.
     *
     * @param create whether tables that it needs are created
     * @param audit what the audit keeps
     */
    StoreOptions options(@Nullable Encryption encryption, boolean create, AuditLevel audit);

    /** The one that the settings ask for; empty if they ask for none. */
    static Optional<DescribedStore> of(OnlyonceProperties.StoreSettings settings, Environment environment) {
        if (settings.redis()) {
            return Optional.of(new DataRedis(environment));
        } else if (settings.dynamodb()) {
            return Optional.of(new CloudAws(environment));
        }
        return settings.cassandra() ? Optional.of(new SpringCassandra(environment)) : Optional.empty();
    }
}
