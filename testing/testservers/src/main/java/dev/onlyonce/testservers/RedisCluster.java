package dev.onlyonce.testservers;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Redis Cluster for tests: three masters with one replica each. */
public final class RedisCluster implements AutoCloseable {
    private static final int MASTERS = 3;
    private static final int SLOTS = 16384;

    private final List<RedisServer> servers = new ArrayList<>();
    /** By which the others find the first server. */
    private final int firstBus = ServerUrl.freePort();

    private RedisCluster() {}

    /** Starts a cluster of the caller's own; returns when every replica follows its master. */
    public static RedisCluster start() {
        RedisCluster cluster = new RedisCluster();
        try {
            for (int i = 0; i < 2 * MASTERS; i++) {
                cluster.servers.add(RedisServer.start(
                        "cluster-enabled yes",
                        "cluster-node-timeout 1000",
                        "cluster-port " + (i == 0 ? cluster.firstBus : ServerUrl.freePort()),
                        "cluster-config-file nodes.conf"));
            }
            cluster.join();
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private void join() {
        for (int i = 0; i < MASTERS; i++) {
            int first = SLOTS * i / MASTERS;
            int last = SLOTS * (i + 1) / MASTERS - 1;
            servers.get(i).await("OK", "CLUSTER", "ADDSLOTSRANGE", "" + first, "" + last);
        }
        for (RedisServer server : servers.subList(1, servers.size())) {
            server.await(
                    "OK", "CLUSTER", "MEET", "127.0.0.1", "" + servers.get(0).port(), "" + firstBus);
        }
        for (RedisServer server : servers) {
            server.await("cluster_known_nodes:" + servers.size(), "CLUSTER", "INFO");
        }
        for (int i = 0; i < MASTERS; i++) {
            String master = servers.get(i).command("CLUSTER", "MYID");
            servers.get(MASTERS + i).await("OK", "CLUSTER", "REPLICATE", master);
        }
        for (RedisServer server : servers) {
            server.await("cluster_state:ok", "CLUSTER", "INFO");
        }
        servers.subList(MASTERS, servers.size())
                .forEach(server -> server.await("master_link_status:up", "INFO", "replication"));
    }

    /** All servers; the first three were the masters in the beginning, the others their replicas in the same order. */
    public List<RedisServer> servers() {
        return List.copyOf(servers);
    }

    public String url() {
        return servers.stream()
                .map(server -> "127.0.0.1:" + server.port())
                .collect(Collectors.joining(",", "redis://", ""));
    }

    @Override
    public void close() {
        servers.forEach(RedisServer::close);
    }
}
