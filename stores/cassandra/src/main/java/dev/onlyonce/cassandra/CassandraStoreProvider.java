package dev.onlyonce.cassandra;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;

/** Opens {@code cassandra://}. */
public final class CassandraStoreProvider implements StoreProvider {
    /** For the service loader. */
    public CassandraStoreProvider() {}

    @Override
    public boolean accepts(String url) {
        return url.startsWith("cassandra://");
    }

    @Override
    public String example() {
        return "cassandra://127.0.0.1:9042/onlyonce";
    }

    @Override
    public void check(String url) {
        var unused = CassandraStore.builder(url);
    }

    @Override
    public Store open(StoreOptions options) {
        if (options.audit() == AuditLevel.EXCEPTIONS) {
            throw new IllegalArgumentException(
                    "a store on Cassandra has no audit level \"exceptions\": its records prove which change took place when"
                            + " Cassandra does not answer in time. Set the level to \"all\"; to keep records for a shorter"
                            + " time, put auditRetention into the URL, as in cassandra://…?auditRetention=720h");
        }
        CassandraStore.Builder builder = CassandraStore.builder(options.url())
                .credentials(options.user(), options.password())
                .create(options.create());
        if (options.encryption() != null) {
            builder.encryption(options.encryption());
        }
        return builder.build();
    }
}
