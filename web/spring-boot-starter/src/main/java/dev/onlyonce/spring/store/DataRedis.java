package dev.onlyonce.spring.store;

import dev.onlyonce.spring.operations.InvalidSettings;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.StoreOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.env.Environment;

/** The Redis that an application has described for Spring Data. */
final class DataRedis implements DescribedStore {
    private static final String PREFIX = "spring.data.redis.";
    private static final int PORT = 6379;

    private final Binder binder;

    DataRedis(Environment environment) {
        this.binder = Binder.get(environment);
    }

    private @Nullable String text(String name) {
        return binder.bind(PREFIX + name, String.class).orElse(null);
    }

    private List<String> texts(String name) {
        return binder.bind(PREFIX + name, Bindable.listOf(String.class)).orElse(List.of());
    }

    @Override
    public String prefix() {
        return "spring.data.redis";
    }

    @Override
    public StoreOptions options(@Nullable Encryption encryption, boolean create, AuditLevel audit) {
        int database = binder.bind(PREFIX + "database", Integer.class).orElse(0);
        if (database != 0) {
            throw new InvalidSettings(
                    "Entries are kept in database 0 of Redis only, and spring.data.redis.database is " + database,
                    "Set onlyonce.store.url with a prefix of its own: redis://host:6379?prefix=onlyonce",
                    null);
        }
        String url = text("url");
        return url != null
                ? new StoreOptions(url, null, null, encryption, false, audit)
                : new StoreOptions(servers(), text("username"), text("password"), encryption, false, audit);
    }

    private String servers() {
        boolean isTls = binder.bind(PREFIX + "ssl.enabled", Boolean.class).orElse(false);
        String scheme = isTls ? "rediss" : "redis";
        String master = text("sentinel.master");
        if (master != null) {
            return scheme + "-sentinel://" + String.join(",", texts("sentinel.nodes")) + "#" + master;
        }
        List<String> nodes = texts("cluster.nodes");
        if (!nodes.isEmpty()) {
            return scheme + "://" + String.join(",", nodes);
        }
        String host = text("host");
        int port = binder.bind(PREFIX + "port", Integer.class).orElse(PORT);
        return scheme + "://" + (host == null ? "localhost" : host) + ":" + port;
    }
}
