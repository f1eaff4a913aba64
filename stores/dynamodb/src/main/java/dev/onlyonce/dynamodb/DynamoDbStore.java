package dev.onlyonce.dynamodb;

import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.AuditQuery;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryQuery;
import dev.onlyonce.store.RenewResult;
import dev.onlyonce.store.Renewal;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.ResultSealing;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreGate;
import dev.onlyonce.store.StoreLimits;
import dev.onlyonce.store.Transition;
import dev.onlyonce.store.UnreadableEntries;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;
import software.amazon.awssdk.services.dynamodb.model.TransactionCanceledException;

/**
 * Entries in one table of Amazon DynamoDB. Any number of threads use one store, any number of nodes one table.
 *
 * <p>An entry and the audit of its key are one item. Every change is one conditional write of that item, see {@link ItemStore}; a list is as
 * many writes in parallel. Time is the service's, see {@link ServiceClock}. Costs and limits are in docs/reference/dynamodb.md.
 */
public final class DynamoDbStore implements Store {
    /** An item has 400 KB: the rest is for the audit of its key, its names, and what encryption adds. */
    static final int RESULT_BYTES_MAX = 340 << 10;

    private final DynamoDbAsyncClient client;
    private final Table table;
    private final StoreGate gate;
    private final StoreClock clock;
    private final ResultSealing sealing;
    private final ItemStore items;
    private final Listing listing;

    private DynamoDbStore(Builder builder) {
        String name = builder.url.table();
        ServiceClock service = new ServiceClock();
        clock = builder.clock.orElse(service);
        client = builder.opening().open(service);
        table = new Table(client, name);
        sealing = new ResultSealing(builder.encryption);
        MarkItem mark = new MarkItem(client, name);
        // There are no settings with which a table forgets.
        gate = new StoreGate(() -> {}, mark::read, mark::write);
        Changes changes = new Changes(builder.audit);
        DueIndex index = new DueIndex(client, name);
        listing = new Listing(table, index, new Scan(client, name, new UnreadableEntries()), clock);
        AuditPurge purge = new AuditPurge(table, index, changes);
        items = new ItemStore(
                new ItemTable(table, index, changes, clock, listing, purge, new AtomicLong(Long.MIN_VALUE)));
        try {
            new Schema(client, name).prepare(builder.create);
            gate.open();
            // Throws if the service did not say what time it is.
            var unused = clock.now();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Opens a store with the standard settings.
     *
     * @param url {@code dynamodb:table?region=eu-central-1}; settings of the {@link Builder} may follow: {@code &timeout=2s}
     * @throws StoreException if DynamoDB cannot be reached, refuses the credentials, or has no such table
     */
    public static DynamoDbStore open(String url) {
        return builder(url).build();
    }

    /**
     * For a store with other settings.
     *
     * @throws IllegalArgumentException if the URL is none, or has settings that do not exist
     */
    public static Builder builder(String url) {
        return new Builder(url);
    }

    /**
     * Takes every result: one that an item cannot hold is recorded without its bytes, see {@link FittingResults}. The transactional way is
     * {@link DynamoDbTransactions}.
     */
    @Override
    public StoreLimits limits() {
        return new StoreLimits(Integer.MAX_VALUE, false, true);
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        gate.check();
        requests.forEach(DynamoDbStore::check);
        return items.claim(requests).stream().map(sealing::open).toList();
    }

    private static void check(ClaimRequest claim) {
        ItemKey.check("tenant", claim.id().tenant());
        ItemKey.check("scope", claim.id().scope());
        ItemKey.check("key", claim.id().key());
        ItemKey.check("operation", claim.operation());
        ItemKey.check("owner", claim.owner());
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        gate.check();
        // All are sealed before the first one is sent: if one cannot be, nothing was changed.
        return items.settle(
                settlements.stream().map(FittingResults::fit).map(sealing::seal).toList());
    }

    /**
     * Settles together with other writes; for {@link DynamoDbTransactions}. Returns when it was settled.
     *
     * @throws TransactionCanceledException if one of the other writes was refused: nothing was written
     * @throws StoreException if it failed otherwise
     */
    Instant commit(Settlement settlement, List<TransactWriteItem> writes) {
        gate.check();
        StoreClock.Reading now = clock.now();
        Table.Update update = ItemStore.settlement(sealing.seal(FittingResults.fit(settlement)), AuditLevel.ALL, now);
        try {
            table.transact(ItemKey.of(settlement.id()), update, writes).join();
            return Item.instant(now.latest());
        } catch (CompletionException e) {
            if (ServiceFailure.cause(e) instanceof TransactionCanceledException cancelled) {
                throw ServiceFailure.ofCancelled(cancelled);
            }
            throw ServiceFailure.of(e);
        }
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        gate.check();
        return items.renew(renewals);
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        gate.check();
        return items.find(ids).stream().map(entry -> entry.map(sealing::open)).toList();
    }

    @Override
    public List<Transition> sweep(int limit) {
        gate.check();
        return items.sweep(limit);
    }

    /** With {@link AuditLevel#EXCEPTIONS}, ordinary entries are left to native TTL instead. */
    @Override
    public int purge(int limit) {
        gate.check();
        return items.purge(limit);
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        gate.check();
        return items.resolve(
                resolutions.stream().map(FittingResults::fit).map(sealing::seal).toList());
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        gate.check();
        return items.evict(id, who, reason);
    }

    /** Unknown entries are found in the index; every other query reads the whole table. */
    @Override
    public List<Entry> list(EntryQuery query) {
        return items.list(query);
    }

    /** Reads the whole table. */
    @Override
    public String description() {
        return "DynamoDB";
    }

    @Override
    public String failover() {
        return "Nothing that was acknowledged, within its region. Replicas of a global table in other regions lag"
                + " behind.";
    }

    @Override
    public int countStored(@Nullable String tenant, int max) {
        return listing.count(tenant, max);
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return items.history(id);
    }

    /** Reads the whole table. */
    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return items.audit(query);
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        gate.check();
        return items.purgeAudit(retention, limit);
    }

    /** By a write whose condition cannot hold. */
    @Override
    public void checkWritable() {
        gate.check();
        Map<String, AttributeValue> probe = ItemKey.of(new EntryId("", "", "")).map();
        try {
            var unused = client.putItem(r -> r.tableName(table.name())
                            .item(probe)
                            .conditionExpression("attribute_exists(pk) AND attribute_not_exists(pk)"))
                    .join();
        } catch (CompletionException e) {
            if (!(ServiceFailure.cause(e) instanceof ConditionalCheckFailedException)) {
                throw ServiceFailure.ofRead(e);
            }
        }
    }

    @Override
    public void recheck() {
        gate.recheck();
    }

    @Override
    public Optional<String> refusal() {
        return gate.refusal();
    }

    @Override
    public void accept(String who, String reason) {
        gate.accept(who, reason);
    }

    /** The item of an entry, for tests. */
    Optional<Item> item(EntryId id) {
        return Reads.one(table.get(ItemKey.of(id)));
    }

    @Override
    public boolean isSealing() {
        return sealing.encryption().isPresent();
    }

    @Override
    public int schemaVersion() {
        return Schema.VERSION;
    }

    /** Returns at once: the SDK waits for two seconds without events before its threads end, and they hold up nobody. */
    @Override
    public void close() {
        Thread closing = new Thread(client::close, "onlyonce-dynamodb-close");
        closing.setDaemon(true);
        closing.start();
    }

    /** How to open a store. */
    public static final class Builder {
        /** A caller waits for some of them in a row. */
        private static final Duration TIMEOUT_MAX = Duration.ofMinutes(1);

        private final DynamoDbUrl url;
        private Optional<Region> region = Optional.empty();
        private Optional<URI> endpoint = Optional.empty();
        private Optional<AwsBasicCredentials> credentials = Optional.empty();
        private Duration timeout = Duration.ofSeconds(2);
        private AuditLevel audit = AuditLevel.ALL;
        private boolean create;
        private Optional<Encryption> encryption = Optional.empty();
        private Optional<StoreClock> clock = Optional.empty();

        private Builder(String url) {
            this.url = DynamoDbUrl.of(url);
            this.url.applyTo(this);
        }

        private ClientOpening opening() {
            return new ClientOpening(region, endpoint, credentials, timeout);
        }

        /** The region; that of the environment by default. */
        public Builder region(Region region) {
            this.region = Optional.of(region);
            return this;
        }

        /** Another endpoint than the region's, e.g. DynamoDB Local. */
        public Builder endpoint(URI endpoint) {
            this.endpoint = Optional.of(endpoint);
            return this;
        }

        /**
         * An access key id and its secret; without them those of the environment: variables, profiles, roles.
         *
         * @throws IllegalArgumentException if there is one without the other: the environment's may be another account's
         */
        public Builder credentials(@Nullable String accessKeyId, @Nullable String secretAccessKey) {
            if ((accessKeyId == null) != (secretAccessKey == null)) {
                throw new IllegalArgumentException(
                        "the credentials of DynamoDB are an access key id (the user) and its secret"
                                + " (the password): give both, or neither to use those of the environment");
            }
            this.credentials = accessKeyId == null || secretAccessKey == null
                    ? Optional.empty()
                    : Optional.of(AwsBasicCredentials.create(accessKeyId, secretAccessKey));
            return this;
        }

        /** How long to wait for an answer; 2 seconds by default, from a millisecond to a minute. */
        public Builder timeout(Duration timeout) {
            if (timeout.toMillis() < 1 || timeout.compareTo(TIMEOUT_MAX) > 0) {
                throw new IllegalArgumentException("timeout must be between 1 ms and " + TIMEOUT_MAX + ": " + timeout);
            }
            this.timeout = timeout;
            return this;
        }

        /**
         * What the audit keeps; {@link AuditLevel#ALL} by default. With {@link AuditLevel#EXCEPTIONS} ordinary entries cost fewer
         * writes, and native TTL deletes them. Nodes that share a table should agree.
         */
        public Builder audit(AuditLevel audit) {
            this.audit = audit;
            return this;
        }

        /** Whether a table that does not exist is created; only checked by default. */
        public Builder create(boolean create) {
            this.create = create;
            return this;
        }

        /** Encrypts stored results. */
        public Builder encryption(Encryption encryption) {
            this.encryption = Optional.of(encryption);
            return this;
        }

        /** For tests: replaces the service's clock. */
        Builder clock(StoreClock clock) {
            this.clock = Optional.of(clock);
            return this;
        }

        /**
         * Opens the store.
         *
         * @throws StoreException if DynamoDB cannot be reached, refuses the credentials, or has no such table
         */
        public DynamoDbStore build() {
            return new DynamoDbStore(this);
        }
    }
}
