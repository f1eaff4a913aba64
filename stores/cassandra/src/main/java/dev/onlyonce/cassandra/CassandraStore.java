package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
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
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreGate;
import dev.onlyonce.store.StoreLimits;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Transition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Entries in Apache Cassandra 4.1 or later. Any number of threads use one store, any number of nodes one cluster.
 *
 * <p>Every change is one lightweight transaction on the entry's partition; it changes the entry and the audit together. {@link Items}
 * says how a list travels, {@link ContendedChange} what happens among contenders and after a time-out, {@link ClusterClock} whose clock counts.
 * What it costs and what it survives is in docs/reference/cassandra.md.
 */
public final class CassandraStore implements Store {
    /** A transaction writes the result twice, and Cassandra refuses mutations of more than 16 MiB. */
    private static final int RESULT_BYTES_MAX = 4 << 20;

    private static final int THREADS = 64;

    private final CqlSession session;
    private final Link link;
    private final Schema schema;
    private final StoreGate gate;
    private final ResultSealing sealing;
    private final WatchedClock clock;
    private final ThreadPoolExecutor threads;
    private final Cas cas;
    private final Items items;
    private final Changes changes;
    private final OpenClaims claims = new OpenClaims();
    private final Listing listing;
    private final AuditLog audit;
    private final Upkeep upkeep;

    /** Among whom the transactions of an entry are ordered. */
    public enum Serial {
        /** All data centres: right wherever nodes of ours are. */
        SERIAL,
        /** The local data centre: faster, and right only if all nodes of ours use this one. */
        LOCAL_SERIAL
    }

    private CassandraStore(Builder builder) {
        CassandraUrl url = builder.url();
        sealing = new ResultSealing(builder.encryption);
        session = SessionOpening.open(url, builder.session());
        threads = threads();
        try {
            schema = new Schema(session, url.keyspace());
            boolean isLocal = builder.serial == Serial.LOCAL_SERIAL;
            link = new Link(
                    session,
                    isLocal ? ConsistencyLevel.LOCAL_QUORUM : ConsistencyLevel.QUORUM,
                    isLocal ? ConsistencyLevel.LOCAL_SERIAL : ConsistencyLevel.SERIAL);
            MarkRow mark = new MarkRow(link);
            if (builder.create) {
                schema.create(builder.dataCentre, builder.replication, mark::create);
            }
            schema.check();
            gate = new StoreGate(schema::checkDefinitions, mark::read, mark::write);
            gate.open();
            Schema.checkLayout(link, builder.shards);
            Schema.checkOrder(link);
            clock = new WatchedClock(builder.clock == null ? new ClusterClock(session) : builder.clock);
            Statements statements = new Statements(session);
            cas = new Cas(link, statements, builder.auditRetention);
            Indexes indexes = new Indexes(link, clock::timesSetBack);
            ContendedChange contended = new ContendedChange(
                    cas, indexes, claims, new LocalLocks(), () -> moment(builder.shards), builder.patience());
            items = new Items(contended, threads);
            changes = new Changes(new Expiry(builder.clockTolerance));
            Calendar calendar = new Calendar(link, builder.shards, clock::timesSetBack);
            listing = new Listing(link, statements, builder.shards, clock::now);
            audit = new AuditLog(link, statements, calendar, indexes);
            upkeep = new Upkeep(calendar, items, contended, changes, clock::timesSetBack);
        } catch (RuntimeException e) {
            close();
            throw e instanceof StoreException ? e : Failures.ofRead(e);
        }
    }

    private static ThreadPoolExecutor threads() {
        ThreadPoolExecutor threads =
                new ThreadPoolExecutor(THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "onlyonce-cassandra");
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    private Moment moment(int shards) {
        long now = clock.now();
        return new Moment(now, now - clock.error(), ThreadLocalRandom.current().nextInt(shards), System.nanoTime());
    }

    /**
     * Opens a store with the standard settings, and creates keyspace and tables if they are missing.
     *
     * @param url {@code cassandra://user:password@host:9042,host:9042/keyspace}; without a keyspace it is {@code onlyonce}. Settings of
     *     the {@link Builder} may follow: {@code ?dc=dc1&timeout=5s}
     * @throws StoreException if Cassandra cannot be used
     */
    public static CassandraStore open(String url) {
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
        requests.forEach(Names::check);
        changes.expiry().check(clock.spread());
        return items.run(new EntryRules.Claim(changes), requests).stream()
                .map(sealing::open)
                .toList();
    }

    @Override
    public List<SettleResult> settle(List<Settlement> settlements) {
        gate.check();
        return items.run(
                new EntryRules.Settle(changes, claims),
                settlements.stream().map(sealing::seal).toList());
    }

    @Override
    public List<RenewResult> renew(List<Renewal> renewals) {
        gate.check();
        return items.run(new EntryRules.Renew(changes, claims), renewals);
    }

    @Override
    public List<Optional<Entry>> find(List<EntryId> ids) {
        gate.check();
        try {
            return listing.find(ids).stream()
                    .map(entry -> entry.map(sealing::open))
                    .toList();
        } catch (StoreUnavailable e) {
            // Busy: the caller goes on with single entries, which may be on other nodes.
            throw Failures.isOfReplicas(e) ? new StoreBusy(Failures.message(e), e) : e;
        }
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
        return items.run(
                new EntryRules.Resolve(changes),
                resolutions.stream().map(sealing::seal).toList());
    }

    @Override
    public Optional<Transition> evict(EntryId id, String who, String reason) {
        gate.check();
        return items.run(new EntryRules.Evict(changes, who, reason), List.of(id))
                .get(0);
    }

    @Override
    public List<Entry> list(EntryQuery query) {
        return listing.list(query).stream().map(Entry::withoutResult).toList();
    }

    /** Counts ids; those that Cassandra has removed by itself are counted until the next purge. */
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
        return audit.list(query, clock.now());
    }

    @Override
    public int purgeAudit(Duration retention, int limit) {
        gate.check();
        return audit.purge(clock.now() - Micros.of(retention), limit);
    }

    /** By a row that Cassandra removes after a second, written to a majority of its replicas. */
    @Override
    public void checkWritable() {
        gate.check();
        Link.await(List.of(link.request(
                SimpleStatement.newInstance("INSERT INTO layout (name, value) VALUES ('probe', '') USING TTL 1"))));
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

    /** What the replication of the keyspace does not survive. */
    @Override
    public String description() {
        return "Apache Cassandra";
    }

    @Override
    public String failover() {
        return "Nothing that was acknowledged, while a quorum of replicas is left.";
    }

    @Override
    public List<String> acceptedRisks() {
        return schema.risks();
    }

    @Override
    public boolean isSealing() {
        return sealing.encryption().isPresent();
    }

    @Override
    public int schemaVersion() {
        return Schema.VERSION;
    }

    /** For tests. */
    CqlSession session() {
        return session;
    }

    /** How many lightweight transactions this store has sent. */
    long transactions() {
        return cas.sent();
    }

    @Override
    public void close() {
        threads.shutdown();
        session.close();
    }

    /** How to open a store. */
    public static final class Builder {
        private static final int SHARDS_MAX = 256;
        private static final Duration TIMEOUT_MIN = Duration.ofMillis(100);

        private final CassandraUrl url;
        private @Nullable String user;
        private @Nullable String password;
        private boolean create = true;
        private @Nullable String dataCentre;
        private int replication = 3;
        private Serial serial = Serial.SERIAL;
        private boolean tls;
        private @Nullable Path ca;
        private Duration timeout = Duration.ofSeconds(5);
        private Duration clockTolerance = Duration.ofMinutes(10);
        private int shards = 16;
        private Duration auditRetention = Duration.ofDays(400);
        private Optional<Encryption> encryption = Optional.empty();
        private @Nullable Clock clock;

        private Builder(String url) {
            this.url = CassandraUrl.of(url);
            this.url.applyTo(this);
        }

        private CassandraUrl url() {
            return password == null
                    ? url
                    : new CassandraUrl(url.servers(), url.keyspace(), user, password, url.settings());
        }

        private SessionOpening.Settings session() {
            return new SessionOpening.Settings(dataCentre, tls || ca != null, ca, timeout);
        }

        /** Among contenders a transaction takes several tries, each of which may time out. */
        private Duration patience() {
            return timeout.multipliedBy(4);
        }

        /** User and password instead of the URL's. */
        public Builder credentials(@Nullable String user, @Nullable String password) {
            this.user = user;
            this.password = password;
            return this;
        }

        /** Whether keyspace and tables are created if they are missing; true by default. */
        public Builder create(boolean create) {
            this.create = create;
            return this;
        }

        /** Whose nodes are asked, and where the keyspace is created; that of the servers in the URL by default. */
        public Builder dataCentre(String dataCentre) {
            this.dataCentre = checked("dc", dataCentre, !dataCentre.isEmpty());
            return this;
        }

        /** On how many nodes of the data centre each entry is, if the keyspace is created; 3 by default. */
        public Builder replication(int replication) {
            this.replication = checked("replication", replication, replication > 0);
            return this;
        }

        /** Among whom the transactions of an entry are ordered; {@link Serial#SERIAL} by default. */
        public Builder serial(Serial serial) {
            this.serial = serial;
            return this;
        }

        /** Connects over TLS; the certificate and the host name are verified, with the trust store of the JVM. */
        public Builder tls(boolean tls) {
            this.tls = tls;
            return this;
        }

        /** Connects over TLS, and trusts only the authorities in this PEM file. */
        public Builder ca(Path ca) {
            this.ca = ca;
            return this;
        }

        /** How long to wait for an answer; 5 seconds by default. Longer than Cassandra's own time-outs, or it cannot answer in time. */
        public Builder timeout(Duration timeout) {
            this.timeout = checked("timeout", timeout, timeout.compareTo(TIMEOUT_MIN) >= 0);
            return this;
        }

        /**
         * By how much the clocks of Cassandra's nodes may differ; 10 minutes by default. Cassandra removes an entry by itself that much
         * later than its retention and tombstone are over. Zero: only purges remove entries, each with a transaction.
         */
        public Builder clockTolerance(Duration tolerance) {
            this.clockTolerance = checked("clockTolerance", tolerance, !tolerance.isNegative());
            return this;
        }

        /**
         * Over how many partitions each index is spread; 16 by default. Fixed by the first store that opens this keyspace: any other number
         * is refused, because index rows would not be found.
         */
        public Builder shards(int shards) {
            this.shards = checked("shards", shards, shards > 0 && shards <= SHARDS_MAX);
            return this;
        }

        /** After how long Cassandra removes audit records by itself; 400 days by default. */
        public Builder auditRetention(Duration retention) {
            boolean isRight = retention.toSeconds() > 0 && retention.compareTo(Duration.ofDays(3660)) <= 0;
            this.auditRetention = checked("auditRetention", retention, isRight);
            return this;
        }

        /** Encrypts stored results. */
        public Builder encryption(Encryption encryption) {
            this.encryption = Optional.of(encryption);
            return this;
        }

        /** For tests: replaces the clock of the cluster. */
        Builder clock(Clock clock) {
            this.clock = clock;
            return this;
        }

        private static <T> T checked(String name, T value, boolean isRight) {
            if (!isRight) {
                throw new IllegalArgumentException(name + " cannot be " + value);
            }
            return value;
        }

        /**
         * Opens the store.
         *
         * @throws StoreException if Cassandra cannot be used
         */
        public CassandraStore build() {
            return new CassandraStore(this);
        }
    }
}
