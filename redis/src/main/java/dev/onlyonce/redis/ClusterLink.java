package dev.onlyonce.redis;

import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.resource.ClientResources;
import java.util.ArrayList;
import java.util.List;

/** Redis Cluster. Redirections are followed, and every one has the map of the slots refreshed. */
final class ClusterLink implements Link {
    private final RedisClusterClient client;
    private final StatefulRedisClusterConnection<byte[], byte[]> connection;
    private final ConnectCount connects = new ConnectCount();

    ClusterLink(ClientResources resources, List<RedisURI> uris) {
        client = RedisClusterClient.create(resources, uris);
        try {
            client.setOptions(LinkOpening.clusterOptions());
            client.addListener(connects);
            connection = client.connect(ByteArrayCodec.INSTANCE);
        } catch (RuntimeException e) {
            client.shutdown();
            throw e;
        }
    }

    @Override
    public StatefulRedisClusterConnection<byte[], byte[]> connection() {
        return connection;
    }

    @Override
    public List<StatefulRedisConnection<byte[], byte[]>> masters() {
        List<StatefulRedisConnection<byte[], byte[]>> masters = new ArrayList<>();
        for (RedisClusterNode node : connection.getPartitions()) {
            if (node.getRole().isUpstream() && !node.getSlots().isEmpty()) {
                try {
                    masters.add(connection.getConnection(node.getNodeId()));
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
        return connection.getConnection(node.getUri().getHost(), node.getUri().getPort());
    }

    @Override
    public int connects() {
        return connects.get();
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
