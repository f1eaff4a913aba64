package dev.onlyonce.prove;

import dev.onlyonce.testservers.CassandraCluster;
import dev.onlyonce.testservers.CassandraServer;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Three nodes of Cassandra. At times one is away, at times two: then nothing may be answered. */
final class CassandraArena implements Arena {
    private static final int NODES = 3;
    private static final int AWAY_MILLIS_MAX = 5_000;

    /** It takes long to start, so rounds share it. Each has tenants of its own. */
    private final CassandraCluster cluster = CassandraCluster.shared();

    private final Random random;
    private @Nullable CassandraServer killed;

    CassandraArena(Setting setting) {
        random = new Random(setting.seed());
    }

    @Override
    public String name() {
        return "cassandra";
    }

    @Override
    public boolean isSql() {
        return false;
    }

    @Override
    public String url(int node) {
        return cluster.url("prove");
    }

    @Override
    public String directUrl() {
        return cluster.url("prove");
    }

    @Override
    public List<Disaster> disasters() {
        return List.of(
                new Disaster("kill one node of Cassandra and start it again", 1, this::kill),
                new Disaster("stop one node of Cassandra for a while", 3, () -> freeze(1)),
                new Disaster("stop two nodes of Cassandra for a while", 2, () -> freeze(2)));
    }

    private synchronized void kill() {
        CassandraServer server = cluster.servers().get(random.nextInt(NODES));
        killed = server;
        server.kill();
        Pause.millis(random.nextInt(AWAY_MILLIS_MAX));
        CassandraCluster.restart(server);
        killed = null;
    }

    private synchronized void freeze(int count) {
        int first = random.nextInt(NODES);
        for (int i = 0; i < count; i++) {
            cluster.servers().get((first + i) % NODES).freeze();
        }
        Pause.millis(random.nextInt(AWAY_MILLIS_MAX));
        cluster.servers().forEach(CassandraServer::thaw);
    }

    @Override
    public synchronized void heal() {
        cluster.servers().forEach(CassandraServer::thaw);
        CassandraServer down = killed;
        if (down != null) {
            CassandraCluster.restart(down);
        }
    }

    @Override
    public void close() {
        // It ends with this process.
    }
}
