package dev.onlyonce.benchmarks;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.redis.RedisStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.testservers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Fresh operations and look-ups on Redis: the engine against what people write by hand, {@code SET NX PX} and {@code SET XX}, and {@code
 * GET}, with one Lettuce connection each; and against the engine on PostgreSQL.
 */
final class RedisSpeed {
    private static final int ENTRIES = 10_000;
    private static final int LEASE_MILLIS = 30_000;
    private static final int RETENTION_MILLIS = 86_400_000;

    private final Options options;
    private final Databases databases;
    private final Report report;

    RedisSpeed(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Redis: claim and settlement with a 512-byte response, and look-ups");
        report.line("By hand: SET NX PX and SET XX PX, or GET, on one Lettuce connection. Times are milliseconds.");
        report.line("");
        report.header(
                " what",
                " appendfsync",
                "callers",
                "engine/s",
                "by hand/s",
                "engine/by hand",
                "PostgreSQL engine/s",
                "engine p50",
                "by hand p50",
                "engine p99",
                "by hand p99",
                "engine CPU µs",
                "by hand CPU µs");
        String url = databases.create(Databases.Kind.POSTGRESQL);
        try (Store sql = databases.store(Databases.Kind.POSTGRESQL, url);
                Onlyonce postgres = Onlyonce.builder(sql).build()) {
            for (String fsync : List.of("everysec", "always")) {
                run(fsync, postgres);
            }
        }
    }

    private void run(String fsync, Onlyonce postgres) throws Exception {
        // The servers of tests keep their data in memory.
        try (TemporaryFolder disk = TemporaryFolder.create("onlyonce-redis");
                RedisServer server = RedisServer.start("appendfsync " + fsync, "dir " + disk.path());
                RedisStore store = RedisStore.open(server.url());
                Onlyonce once = Onlyonce.builder(store).build();
                ByHand byHand = new ByHand(server.url())) {
            Contest fresh = new Contest(options)
                    .add("engine", number -> () -> Work.execute(once))
                    .add("by hand", number -> byHand::execute)
                    .add("PostgreSQL", number -> () -> Work.execute(postgres));
            fresh.warmUp();
            for (int callers : options.callers()) {
                row("fresh", fsync, callers, fresh.run(Threads.platform(), callers));
            }
            List<Key> keys = fill(once, byHand);
            Contest lookups = new Contest(options)
                    .add("engine", number -> () -> check(once.find(pick(keys)).isPresent()))
                    .add("by hand", number -> () -> check(byHand.find(pick(keys).value())));
            lookups.warmUp();
            for (int callers : options.callers()) {
                row("look-up", fsync, callers, lookups.run(Threads.platform(), callers));
            }
        }
    }

    private static void check(boolean isThere) {
        if (!isThere) {
            throw new IllegalStateException("an entry is missing");
        }
    }

    private static Key pick(List<Key> keys) {
        return keys.get(ThreadLocalRandom.current().nextInt(keys.size()));
    }

    private static List<Key> fill(Onlyonce once, ByHand byHand) throws Exception {
        List<Key> keys = new ArrayList<>();
        for (int i = 0; i < ENTRIES; i++) {
            Key key = Key.of(Work.TENANT, Work.OPERATION, Work.newKey());
            var unused = once.execute(key, Work.FINGERPRINT, Codec.bytes(), claim -> Work.response());
            byHand.execute(key.value());
            keys.add(key);
        }
        return keys;
    }

    private void row(String what, String fsync, int callers, Contest.Results measured) {
        Measured engine = measured.of("engine");
        Measured byHand = measured.of("by hand");
        String postgres = measured.byName().containsKey("PostgreSQL")
                ? "%.0f".formatted(measured.of("PostgreSQL").perSecond())
                : "";
        report.line(
                "| %s | %s | %d | %.0f | %.0f | **%.2fx** | %s | %.2f | %.2f | %.2f | %.2f | %.0f | %.0f |",
                what,
                fsync,
                callers,
                engine.perSecond(),
                byHand.perSecond(),
                engine.perSecond() / byHand.perSecond(),
                postgres,
                engine.millis(0.5),
                byHand.millis(0.5),
                engine.millis(0.99),
                byHand.millis(0.99),
                engine.cpuMicros(),
                byHand.cpuMicros());
    }

    /** What people write: no token, no doubt, no audit, nothing that finds a lapsed claim. */
    private static final class ByHand implements AutoCloseable {
        private final RedisClient client;
        private final StatefulRedisConnection<byte[], byte[]> connection;
        private final RedisCommands<byte[], byte[]> commands;

        ByHand(String url) {
            client = RedisClient.create(url);
            connection = client.connect(ByteArrayCodec.INSTANCE);
            commands = connection.sync();
        }

        void execute() {
            execute(Work.newKey());
        }

        void execute(String id) {
            byte[] key = key(id);
            check(commands.set(key, Work.DIGEST, SetArgs.Builder.nx().px(LEASE_MILLIS)) != null);
            check(commands.set(key, Work.response(), SetArgs.Builder.xx().px(RETENTION_MILLIS)) != null);
        }

        boolean find(String id) {
            return commands.get(key(id)) != null;
        }

        private static byte[] key(String id) {
            return ("by-hand:" + Work.TENANT + ":" + id).getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public void close() {
            connection.close();
            client.shutdown();
        }
    }
}
