package dev.onlyonce.redis;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.redis.LinkOpening.Servers;
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
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.resource.ClientResources;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Entries in Redis 6.2 or later, or Valkey: one server, Sentinel, or Cluster. Any number of threads use one store, any number of nodes
 * one Redis.
 *
 * <p>Every change is decided by {@link dev.onlyonce.store.Life} and made by one script on one partition, see {@link Partitions}, if the entry
 * is as expected: the entry, its indexes and the audit together, by the server's clock. {@link Batch} says how. What a failover can lose is in docs/reference/redis.md.
 */
public final class RedisStore implements Store {
    /** Results larger than this would hold up everybody else on the server. */
    private static final int RESULT_BYTES_MAX = 16 << 20;

    private final Link link;
    private final @Nullable ClientResources ownResources;
    private final ServerCheck check;
    private final LargeEntries large;
    private final ResultSealing sealing;
    private final Claims claims = new Claims();
    private final Swaps swaps;
    private final Batch batch;
    private final Reads reads;
    private final Layout layout;
    private final StoreGate gate;
    private final Listing listing;
    private final AuditStreams audit;
    private final Upkeep upkeep;
    private final FailoverRisks risks;

    private RedisStore(Builder builder) {
        ownResources = builder.resources == null ? ClientResources.create() : null;
        ClientResources resources = builder.resources == null ? ownResources : builder.resources;
        link = open(builder, resources);
        check = new ServerCheck(link, builder.timeout, builder.acceptDataLoss, builder.fsynced);
        Pipeline pipeline = new Pipeline(link, check, builder.timeout);
        large = new LargeEntries(
                () -> LinkOpening.open(servers(builder), requireNonNull(resources)),
                opened -> new Pipeline(opened, check, builder.timeout),
                builder.timeout);
        layout = layout(builder, pipeline);
        Partitions partitions = layout.partitions();
        sealing = new ResultSealing(builder.encryption);
        long auditMax = Math.max(1, builder.auditRecordsMax / partitions.count());
        Replicas replicas =
                new Replicas(link, partitions, new Replicas.Wanted(builder.replicas, builder.fsynced, builder.timeout));
        risks = new FailoverRisks(link, builder.replicas, builder.acceptDataLoss);
        StoreGate opened = gate(new Marks(pipeline, partitions));
        gate = opened;
        swaps = new Swaps(
                link,
                pipeline,
                partitions,
                new Swaps.Settings(auditMax, () -> opened.id().orElse("none"), builder.clock));
        batch = new Batch(link, swaps, replicas, builder.audit);
        reads = new Reads(link, swaps, replicas, large);
        listing = new Listing(pipeline, partitions, reads);
        audit = new AuditStreams(pipeline, partitions, swaps);
        upkeep = new Upkeep(pipeline, partitions, batch, Script.of("due", builder.clock));
        checkRights(builder, pipeline, replicas);
    }

    private void checkRights(Builder builder, Pipeline pipeline, Replicas replicas) {
        try {
            CommandRights.check(pipeline, layout.partitions());
            replicas.checkRight();
            risks.open(builder.timeout);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private StoreGate gate(Marks marks) {
        StoreGate opening = new StoreGate(
                () -> {
                    check.again();
                    risks.again();
                },
                marks::read,
                marks::write);
        try {
            opening.open();
            return opening;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private Layout layout(Builder builder, Pipeline pipeline) {
        try {
            Layout found = Layout.open(
                    pipeline,
                    builder.prefix,
                    builder.partitions,
                    link.isCluster() ? Partitions.COUNT_CLUSTER : Partitions.COUNT_SINGLE);
            if (builder.audit == AuditLevel.EXCEPTIONS) {
                new OwnRecords(pipeline, found.partitions(), new UnreadableEntries()).expect();
            }
            return found;
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private Link open(Builder builder, @Nullable ClientResources resources) {
        try {
            return LinkOpening.open(servers(builder), requireNonNull(resources));
        } catch (RuntimeException e) {
            closeResources();
            throw e;
        }
    }

    private static Servers servers(Builder builder) {
        return Servers.trusting(builder.servers(), builder.ca);
    }

    /**
     * Opens a store with the standard settings.
     *
     * @param url {@code redis://user:password@host:port}, {@code rediss://…} for TLS, {@code redis-sentinel://password@host:port,…#master}.
     *     A server that is part of a cluster is recognised; name several of them, separated by commas. Settings of the
     *     {@link Builder} may follow: {@code ?replicas=1&timeout=2s}
     * @throws StoreException if Redis cannot be reached, or may lose entries
     */
    public static RedisStore open(String url) {
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

    @Override
    public StoreLimits limits() {
        return new StoreLimits(RESULT_BYTES_MAX, false);
    }

    @Override
    public List<ClaimResult> claim(List<ClaimRequest> requests) {
        gate.check();
        requests.forEach(RedisStore::check);
        return batch.write(new Verbs.Claim(claims), requests).stream()
                .map(sealing::open)
                .toList();
    }

    private static void check(ClaimRequest claim) {
        Partitions.check("tenant", claim.id().tenant());
        Partitions.check("scope", claim.id().scope());
        Partitions.check("key", claim.id().key());
        Partitions.check("operation", claim.operation());
        Partitions.check("owner", claim.owner());
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        gate.check();
        return batch.write(
                new Verbs.Settle(claims),
                settlements.stream().map(sealing::seal).toList());
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        gate.check();
        return batch.write(new Verbs.Renew(claims), renewals);
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        gate.check();
        return reads.find(ids).stream().map(entry -> entry.map(sealing::open)).toList();
    }

    @Override
    public List<Transition> sweep(int limit) {
        gate.check();
        return limit < 1 ? List.of() : upkeep.sweep(limit);
    }

    @Override
    public int purge(int limit) {
        gate.check();
        return limit < 1 ? 0 : upkeep.purge(limit);
    }

    @Override
    public List<SettleResult> resolve(List<Resolution> resolutions) {
        gate.check();
        return batch.write(
                new Verbs.Resolve(), resolutions.stream().map(sealing::seal).toList());
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        gate.check();
        return batch.write(new Verbs.Evict(who, reason), List.of(id)).get(0);
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        return listing.list(query);
    }

    /** Counts what the indexes have; an entry that somebody has deleted is counted until the next purge. */
    @Override
    public int countStored(@Nullable String tenant, int max) {
        return listing.count(tenant, max);
    }

    @Override
    public List<AuditRecord> history(EntryId id) {
        return audit.history(id);
    }

    @Override
    public List<AuditRecord> audit(AuditQuery query) {
        return audit.list(query);
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        gate.check();
        return audit.purge(retention, limit);
    }

    @Override
    public Optional<Instant> now() {
        return Optional.of(swaps.now());
    }

    /** In every partition. */
    @Override
    public void checkWritable() {
        gate.check();
        layout.checkWritable();
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

    /** The settings of the servers that {@link Builder#acceptDataLoss} has accepted, and what a failover by Sentinel may lose. */
    @Override
    public String description() {
        return "Redis";
    }

    @Override
    public String failover() {
        return "Writes of the last moments that no replica had: those keys could run again.";
    }

    @Override
    public List<String> acceptedRisks() {
        return Stream.concat(check.risks().stream(), risks.found().stream()).toList();
    }

    @Override
    public boolean isSealing() {
        return sealing.encryption().isPresent();
    }

    @Override
    public void close() {
        large.close();
        link.close();
        closeResources();
    }

    private void closeResources() {
        if (ownResources != null) {
            var unused = ownResources.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    /** How to open a store. */
    public static final class Builder {
        private final RedisUrl url;
        private @Nullable String user;
        private @Nullable String password;
        private @Nullable Path ca;
        private String prefix = "onlyonce";
        private int partitions;
        private boolean acceptDataLoss;
        private int replicas;
        private boolean fsynced;
        private Duration timeout = Duration.ofSeconds(2);
        private AuditLevel audit = AuditLevel.ALL;
        private long auditRecordsMax = 1_000_000;
        private Optional<Encryption> encryption = Optional.empty();
        private @Nullable ClientResources resources;
        private Optional<String> clock = Optional.empty();

        private Builder(String url) {
            this.url = RedisUrl.of(url);
            this.url.applyTo(this);
            var unused = this.url.servers();
        }

        private List<RedisURI> servers() {
            List<RedisURI> servers = url.servers();
            if (password != null) {
                RedisCredentialsProvider credentials = new StaticCredentialsProvider(user, password.toCharArray());
                servers.forEach(server -> server.setCredentialsProvider(credentials));
            }
            return servers;
        }

        /** The password instead of the URL's, and the user, if there is one. */
        public Builder credentials(@Nullable String user, @Nullable String password) {
            this.user = user;
            this.password = password;
            return this;
        }

        /** Trusts only the authorities in this PEM file, with {@code rediss://}; those of the JVM by default. */
        public Builder ca(Path ca) {
            this.ca = url.checkedCa(ca);
            return this;
        }

        /** What all keys begin with; {@code onlyonce} by default. Without braces. */
        public Builder prefix(String prefix) {
            this.prefix = prefix;
            return this;
        }

        /**
         * How many partitions the entries are spread over. The first store that opens this prefix fixes it: 2 on one server and 64 in a
         * cluster, if it does not say. Any other number is refused from then on, because ids would be looked for in another place.
         */
        public Builder partitions(int partitions) {
            this.partitions = new Partitions(prefix, partitions).count();
            return this;
        }

        /**
         * Accepts servers that evict entries or do not write them to disk, and fewer {@link #replicas} than Sentinel may promote. Lost entries mean that operations run again. The log and
         * {@link RedisStore#acceptedRisks} say what was accepted.
         */
        public Builder acceptDataLoss(boolean accept) {
            this.acceptDataLoss = accept;
            return this;
        }

        /**
         * How many replicas must have a change before it is answered; 0 by default. With Sentinel: all that it may promote. Fewer within a quarter of the {@link #timeout}
         * means that the outcome is unknown; the engine asks again, and is refused until there are as many.
         */
        public Builder replicas(int replicas) {
            if (replicas < 0) {
                throw new IllegalArgumentException("replicas must not be negative: " + replicas);
            }
            this.replicas = replicas;
            return this;
        }

        /**
         * Whether a change must be on the master's disk, and on those of the {@link #replicas}, before it is answered; false by
         * default. For servers with {@code appendfsync everysec}; needs Redis 7.2 or later.
         */
        public Builder fsynced(boolean fsynced) {
            this.fsynced = fsynced;
            return this;
        }

        /** How long to wait for an answer; 2 seconds by default. */
        public Builder timeout(Duration timeout) {
            if (timeout.toMillis() < 1) {
                throw new IllegalArgumentException("timeout must be positive: " + timeout);
            }
            this.timeout = timeout;
            return this;
        }

        /**
         * What the audit keeps; {@link AuditLevel#ALL} by default. With {@link AuditLevel#EXCEPTIONS} an ordinary settlement is
         * recorded on its entry alone, which is faster and takes no memory, but listing the audit reads all entries.
         */
        public Builder audit(AuditLevel audit) {
            this.audit = audit;
            return this;
        }

        /** How many audit records are kept; the oldest make room. A million by default, about 115 MB. */
        public Builder auditRecordsMax(long auditRecordsMax) {
            this.auditRecordsMax = auditRecordsMax;
            return this;
        }

        /** Encrypts stored results. */
        public Builder encryption(Encryption encryption) {
            this.encryption = Optional.of(encryption);
            return this;
        }

        /** Lettuce's threads, to share them; they stay the caller's to shut down. */
        public Builder resources(ClientResources resources) {
            this.resources = resources;
            return this;
        }

        /** For tests: replaces the server's clock by the text of a Lua function {@code now}. */
        Builder clock(String lua) {
            this.clock = Optional.of(lua);
            return this;
        }

        /**
         * Opens the store.
         *
         * @throws StoreException if Redis cannot be reached, or may lose entries
         * @throws IllegalArgumentException if a setting is wrong
         */
        public RedisStore build() {
            return new RedisStore(this);
        }
    }
}
