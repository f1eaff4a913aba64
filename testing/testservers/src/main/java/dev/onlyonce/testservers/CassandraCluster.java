package dev.onlyonce.testservers;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A cluster of Cassandra nodes for tests, each a process of its own that can be killed. */
public final class CassandraCluster implements AutoCloseable {
    private static final int NODES_STANDARD = 3;

    private static @Nullable CassandraCluster shared;

    private final List<CassandraServer> servers = new ArrayList<>();

    private CassandraCluster() {}

    /** Three nodes for all tests of this JVM; they end with it. Whoever kills one starts it again. */
    public static synchronized CassandraCluster shared() {
        if (shared == null) {
            shared = start(NODES_STANDARD);
        }
        return shared;
    }

    /**
     * Starts a cluster of the caller's own; returns when every node takes clients.
     *
     * @param settings lines of cassandra.yaml, e.g. {@code "authenticator: PasswordAuthenticator"}
     */
    public static CassandraCluster start(int nodes, String... settings) {
        CassandraCluster cluster = new CassandraCluster();
        CassandraServer.Ring ring = new CassandraServer.Ring(nodes, ServerUrl.freePort(), ServerUrl.freePort());
        try {
            for (int number = 1; number <= nodes; number++) {
                cluster.servers.add(new CassandraServer(ring, number, List.of(settings)));
            }
            startAll(cluster.servers);
            cluster.servers.forEach(server -> server.awaitPeers(nodes - 1));
            return cluster;
        } catch (RuntimeException e) {
            cluster.close();
            throw e;
        }
    }

    private static void startAll(List<CassandraServer> servers) {
        CompletableFuture.allOf(servers.stream()
                        .map(server -> CompletableFuture.runAsync(server::start, task -> new Thread(task).start()))
                        .toArray(CompletableFuture<?>[]::new))
                .join();
    }

    /** Starts nodes that are down again, side by side. */
    public static void restart(CassandraServer... servers) {
        List.of(servers).forEach(CassandraServer::kill);
        startAll(List.of(servers));
    }

    /** All nodes. */
    public List<CassandraServer> servers() {
        return List.copyOf(servers);
    }

    /** The URL of a keyspace. */
    public String url(String keyspace) {
        return servers.stream()
                .map(server -> server.address().getHostString() + ":"
                        + server.address().getPort())
                .collect(Collectors.joining(",", "cassandra://", "/" + keyspace));
    }

    @Override
    public void close() {
        servers.forEach(CassandraServer::close);
    }
}
