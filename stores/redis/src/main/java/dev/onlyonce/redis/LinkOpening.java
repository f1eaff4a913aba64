package dev.onlyonce.redis;

import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.TrustedAuthorities;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Connects, and finds out whether the server is part of a cluster. */
final class LinkOpening {
    private static final Duration CONNECT_MAX = Duration.ofSeconds(3);
    private static final Duration TOPOLOGY_EVERY = Duration.ofSeconds(5);
    /** Far more than a node has under way; beyond it, commands are refused instead of kept. */
    private static final int QUEUE_MAX = 16_384;
    /** A slot moves at most twice while a command is on its way. */
    private static final int REDIRECTS_MAX = 5;

    private LinkOpening() {}

    /**
     * Whom to connect to.
     *
     * @param tls for those with {@code rediss://}
     */
    record Servers(List<RedisURI> uris, SslOptions tls) {
        /**
         * Trusts only the authorities in a PEM file, or those of the JVM for null. Host names are verified.
         *
         * @throws StoreUnavailable if the file cannot be read
         */
        static Servers trusting(List<RedisURI> uris, @Nullable Path ca) {
            SslOptions.Builder tls = SslOptions.builder().jdkSslProvider();
            return new Servers(uris, (ca == null ? tls : tls.trustManager(TrustedAuthorities.read(ca))).build());
        }
    }

    /**
     * Opens the connections.
     *
     * @throws StoreUnavailable if that fails, with a message that names the server, without its password, and says why
     */
    static Link open(Servers servers, ClientResources resources) {
        List<RedisURI> uris = servers.uris();
        SslOptions tls = servers.tls();
        RuntimeException last = new IllegalArgumentException("no server in " + shown(uris));
        for (RedisURI uri : uris) {
            uri.setTimeout(CONNECT_MAX);
            try {
                if (uri.getSentinels().isEmpty() && isCluster(resources, uri, tls)) {
                    return new ClusterLink(resources, uris, tls);
                } else if (uris.size() > 1) {
                    // Each node would take the first that answers it, and not know what others have claimed elsewhere.
                    throw new StoreUnavailable(
                            "Redis at " + shown(uris) + " cannot be used: these are several servers, but "
                                    + shown(List.of(uri))
                                    + " is not part of a cluster. Name one server, or Sentinel (redis-sentinel://)",
                            null);
                }
                return new SingleLink(resources, uri, tls);
            } catch (RedisException e) {
                last = e;
            }
        }
        Throwable cause = innermost(last);
        String manner = "";
        if (uris.stream().anyMatch(RedisURI::isSsl)) {
            manner =
                    " over TLS (does that port speak TLS, and does this JVM trust its certificate? ca= in the URL names another authority)";
        } else if (!(cause instanceof ConnectException || cause instanceof RedisCommandExecutionException)) {
            // A server that wants TLS hangs up on whoever does not.
            manner = " (does that port want TLS? Then write rediss://)";
        }
        String reason = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        throw new StoreUnavailable("Redis at " + shown(uris) + " cannot be used" + manner + ": " + reason, last);
    }

    private static boolean isCluster(ClientResources resources, RedisURI uri, SslOptions tls) {
        RedisClient client = RedisClient.create(resources, uri);
        try (StatefulRedisConnection<String, String> connection = connect(client, tls)) {
            return connection.sync().info("cluster").contains("cluster_enabled:1");
        } finally {
            client.shutdown();
        }
    }

    private static StatefulRedisConnection<String, String> connect(RedisClient client, SslOptions tls) {
        client.setOptions(options(tls));
        return client.connect();
    }

    private static String shown(List<RedisURI> uris) {
        return String.join(
                ", ",
                uris.stream()
                        .map(uri -> uri.getSentinels().isEmpty() ? uri.getHost() + ":" + uri.getPort() : "Sentinel")
                        .toList());
    }

    /** It says what is wrong; those around it only that something is. */
    private static Throwable innermost(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        return cause;
    }

    /**
     * Commands that cannot be sent at once fail at once, and those without an answer are not sent again: the engine decides what is
     * repeated.
     */
    static ClientOptions options(SslOptions tls) {
        return with(ClientOptions.builder(), tls).build();
    }

    static ClusterClientOptions clusterOptions(SslOptions tls) {
        ClusterTopologyRefreshOptions refresh = ClusterTopologyRefreshOptions.builder()
                .adaptiveRefreshTriggersTimeout(Duration.ofMillis(500))
                .enablePeriodicRefresh(TOPOLOGY_EVERY)
                .build();
        ClusterClientOptions.Builder builder = ClusterClientOptions.builder();
        var unused = with(builder, tls);
        return builder.topologyRefreshOptions(refresh)
                .maxRedirects(REDIRECTS_MAX)
                .build();
    }

    private static ClientOptions.Builder with(ClientOptions.Builder builder, SslOptions tls) {
        return builder.disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .requestQueueSize(QUEUE_MAX)
                .protocolVersion(ProtocolVersion.RESP2)
                .sslOptions(tls)
                // Our calls have their own limits; Lettuce's would be the one for connecting.
                .timeoutOptions(TimeoutOptions.create())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(CONNECT_MAX)
                        .keepAlive(true)
                        .build());
    }
}
