package dev.onlyonce.redis;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;

/** Opens {@code redis://}, {@code rediss://} and {@code redis-sentinel://}. */
public final class RedisStoreProvider implements StoreProvider {
    /** For the service loader. */
    public RedisStoreProvider() {}

    @Override
    public boolean accepts(String url) {
        return url.matches("rediss?(-sentinel)?://.*");
    }

    @Override
    public String example() {
        return "redis://127.0.0.1:6379";
    }

    @Override
    public void check(String url) {
        var unused = RedisStore.builder(url);
    }

    @Override
    public Store cache(Store store, CacheOptions options) {
        return CachedStore.builder(store, options).build();
    }

    @Override
    public Store open(StoreOptions options) {
        RedisStore.Builder builder = RedisStore.builder(options.url()).credentials(options.user(), options.password());
        if (options.encryption() != null) {
            builder.encryption(options.encryption());
        }
        if (options.audit() == AuditLevel.EXCEPTIONS) {
            builder.audit(AuditLevel.EXCEPTIONS);
        }
        return builder.build();
    }
}
