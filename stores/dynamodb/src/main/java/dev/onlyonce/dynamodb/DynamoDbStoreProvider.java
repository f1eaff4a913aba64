package dev.onlyonce.dynamodb;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreOptions;
import dev.onlyonce.store.StoreProvider;

/** Opens {@link DynamoDbStore}s by their URL; the user is the access key id, the password the secret access key. */
public final class DynamoDbStoreProvider implements StoreProvider {
    /** For the service loader. */
    public DynamoDbStoreProvider() {}

    @Override
    public boolean accepts(String url) {
        return url.startsWith(DynamoDbUrl.SCHEME);
    }

    @Override
    public String example() {
        return "dynamodb:onlyonce?region=eu-central-1";
    }

    @Override
    public void check(String url) {
        var unused = DynamoDbStore.builder(url);
    }

    @Override
    public Store open(StoreOptions options) {
        DynamoDbStore.Builder builder = DynamoDbStore.builder(options.url())
                .credentials(options.user(), options.password())
                .create(options.create());
        if (options.encryption() != null) {
            builder.encryption(options.encryption());
        }
        if (options.audit() == AuditLevel.EXCEPTIONS) {
            builder.audit(AuditLevel.EXCEPTIONS);
        }
        return builder.build();
    }
}
