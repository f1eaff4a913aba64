package dev.onlyonce.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Redis Cluster. Redirections are followed, and every one has the map of the slots refreshed; so has a server that hangs, because then
 * nobody redirects.
 */
final class ClusterLink implements Link {
    private static final Duration ANSWER_MAX = Duration.ofSeconds(1);
    /** Flags of replicas that do not take over. */
    private static final List<String> GONE = List.of("fail", "handshake", "noaddr");

    private final RedisClusterClient client;
    private final StatefulRedisClusterConnection<byte[], byte[]> connection;
    private final ConnectCount connects = new ConnectCount();
    private final Channels channels = new Channels();

    ClusterLink(ClientResources resources, List<RedisURI> uris, SslOptions tls) {
        client = RedisClusterClient.create(channels.watched(resources), uris);
        try {
            client.setOptions(LinkOpening.clusterOptions(tls));
            client.addListener(connects);
            connection = client.connect(ByteArrayCodec.INSTANCE);
        } catch (RuntimeException e) {
            client.shutdown();
            throw e;
        }
    }

    /** One by one: handed over together, a server that cannot be reached would fail commands that others were sent already. */
    @Override
    public <T> void send(List<? extends RedisCommand<byte[], byte[], T>> commands) {
        for (RedisCommand<byte[], byte[], T> command : commands) {
            try {
                var unused = connection.dispatch(command);
            } catch (RedisException e) {
                command.completeExceptionally(e);
            }
        }
    }

    @Override
    public boolean isCluster() {
        return true;
    }

    @Override
    public List<StatefulRedisConnection<byte[], byte[]>> masters() {
        List<StatefulRedisConnection<byte[], byte[]>> masters = new ArrayList<>();
        for (RedisClusterNode node : connection.getPartitions()) {
            if (isMaster(node)) {
                try {
                    masters.add(connectionTo(node));
                } catch (RedisException e) {
                    // It is down; its replica takes over, or it comes back, with a new connection either way.
                }
            }
        }
        return masters;
    }

    @Override
    public StatefulRedisConnection<byte[], byte[]> master(byte[] key) {
        RedisClusterNode node = connection.getPartitions().getPartitionBySlot(SlotHash.getSlot(key));
        if (node == null) {
            throw new RedisException("No master has the slot " + SlotHash.getSlot(key));
        }
        return connectionTo(node);
    }

    /** By its address, as commands find it: connections by the id of a node are others. */
    private StatefulRedisConnection<byte[], byte[]> connectionTo(RedisClusterNode node) {
        return connection.getConnection(node.getUri().getHost(), node.getUri().getPort());
    }

    @Override
    public int generation() {
        int masters = 0;
        for (RedisClusterNode node : connection.getPartitions()) {
            masters += isMaster(node) ? node.getNodeId().hashCode() : 0;
        }
        return 31 * masters + connects.get();
    }

    private static boolean isMaster(RedisClusterNode node) {
        return node.getRole().isUpstream() && !node.hasNoSlots();
    }

    @Override
    public void giveUpSilent(Duration silence) {
        channels.closeSilent(silence);
        var unused = client.refreshPartitionsAsync();
    }

    /** The next topology says where it is. */
    @Override
    public void findMaster() {
        var unused = client.refreshPartitionsAsync();
    }

    /** As a master sees it: lines with id, address, flags and the id of the master. */
    @Override
    public OptionalInt promotable(boolean isGoneCounted) {
        Map<String, Integer> replicas = new HashMap<>();
        try {
            String nodes = masters().get(0).async().clusterNodes().get(ANSWER_MAX.toMillis(), TimeUnit.MILLISECONDS);
            for (String line : nodes.split("\n")) {
                String[] node = line.split(" ");
                List<String> flags = List.of(node[2].split(","));
                if (flags.contains("slave")
                        && !flags.contains("nofailover")
                        && (isGoneCounted || Collections.disjoint(flags, GONE))) {
                    replicas.merge(node[3], 1, Integer::sum);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalInt.empty();
        } catch (ExecutionException | TimeoutException | RuntimeException e) {
            return OptionalInt.empty();
        }
        return OptionalInt.of(replicas.values().stream().max(Integer::compare).orElse(0));
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
