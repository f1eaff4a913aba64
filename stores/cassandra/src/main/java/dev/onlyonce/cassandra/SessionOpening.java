package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.auth.AuthenticationException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import dev.onlyonce.store.StoreUnavailable;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Connects. */
final class SessionOpening {
    private static final Duration CONNECT_MAX = Duration.ofSeconds(5);
    private static final Duration HEARTBEAT = Duration.ofSeconds(5);
    private static final Duration RECONNECT_MIN = Duration.ofMillis(200);
    private static final Duration RECONNECT_MAX = Duration.ofSeconds(5);
    /** A second node is asked after this part of the time-out: before the first gives up by its own, which is 2 seconds of 5. */
    private static final int SOON = 5;

    private static final int NODES_ASKED_MAX = 2;
    private static final int CAUSES_MAX = 100;
    private static final String POLICIES = "com.datastax.oss.driver.internal.core.";

    private SessionOpening() {}

    /**
     * How to connect.
     *
     * @param dataCentre whose nodes are asked; null for that of the servers in the URL
     * @param ca authorities to trust; null for those that the JVM trusts
     */
    record Settings(
            @Nullable String dataCentre,
            boolean tls,
            @Nullable Path ca,
            Duration timeout) {
        /** How it connects, and what to look at if it cannot. */
        String manner() {
            if (!tls) {
                return "";
            }
            return " over TLS (does that port speak TLS, and does "
                    + (ca == null
                            ? "this JVM trust its certificate?)"
                            : "its certificate come from an authority in " + ca + "?)");
        }
    }

    /**
     * Opens a session.
     *
     * @throws StoreUnavailable with a message that names the servers, without the password, and says why
     */
    static CqlSession open(CassandraUrl url, Settings settings) {
        CqlSessionBuilder builder =
                CqlSession.builder().withApplicationName("onlyonce").withConfigLoader(config(settings));
        for (InetSocketAddress server : url.servers()) {
            builder.addContactPoint(new InetSocketAddress(server.getHostString(), server.getPort()));
        }
        String user = url.user();
        String password = url.password();
        if (user != null && password != null) {
            builder.withAuthCredentials(user, password);
        }
        Path ca = settings.ca();
        if (ca != null) {
            builder.withSslEngineFactory(Authorities.tls(ca));
        }
        try {
            return checked(builder.build(), settings.dataCentre());
        } catch (StoreUnavailable e) {
            throw e;
        } catch (RuntimeException e) {
            throw new StoreUnavailable(
                    "Cassandra at " + url.shown() + " cannot be used" + settings.manner() + ": "
                            + reason(e, settings.tls()),
                    e);
        }
    }

    private static CqlSession checked(CqlSession session, @Nullable String dataCentre) {
        List<String> found = session.getMetadata().getNodes().values().stream()
                .map(node -> String.valueOf(node.getDatacenter()))
                .distinct()
                .toList();
        if (dataCentre != null && !found.contains(dataCentre)) {
            session.close();
            throw new StoreUnavailable(
                    "Cassandra has no data centre " + dataCentre + ": write one of " + String.join(", ", found)
                            + " after dc=",
                    null);
        }
        return session;
    }

    private static DriverConfigLoader config(Settings settings) {
        ProgrammaticDriverConfigLoaderBuilder config = DriverConfigLoader.programmaticBuilder(
                        CqlSession.class.getClassLoader())
                // Newer versions add nothing that is used here, and with V5 the driver failed on frames under
                // contention.
                .withString(DefaultDriverOption.PROTOCOL_VERSION, "V4")
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, settings.timeout())
                .withDuration(DefaultDriverOption.CONNECTION_CONNECT_TIMEOUT, CONNECT_MAX)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, CONNECT_MAX)
                .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, CONNECT_MAX)
                .withDuration(DefaultDriverOption.HEARTBEAT_INTERVAL, HEARTBEAT)
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, RECONNECT_MIN)
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, RECONNECT_MAX)
                // Timestamps are made by Cassandra: this machine's clock does not matter.
                .withString(
                        DefaultDriverOption.TIMESTAMP_GENERATOR_CLASS, POLICIES + "time.ServerSideTimestampGenerator")
                // The driver repeats only what is marked as harmless to repeat.
                .withBoolean(DefaultDriverOption.REQUEST_DEFAULT_IDEMPOTENCE, false)
                // That is sent to another node as well if the first has not answered soon: it may hang, or be cut off
                // from the replicas.
                .withString(
                        DefaultDriverOption.SPECULATIVE_EXECUTION_POLICY_CLASS,
                        POLICIES + "specex.ConstantSpeculativeExecutionPolicy")
                .withInt(DefaultDriverOption.SPECULATIVE_EXECUTION_MAX, NODES_ASKED_MAX)
                .withDuration(
                        DefaultDriverOption.SPECULATIVE_EXECUTION_DELAY,
                        settings.timeout().dividedBy(SOON))
                .withBoolean(DefaultDriverOption.REQUEST_WARN_IF_SET_KEYSPACE, false)
                .withBoolean(DefaultDriverOption.NETTY_DAEMON, true);
        if (settings.tls() && settings.ca() == null) {
            config.withString(DefaultDriverOption.SSL_ENGINE_FACTORY_CLASS, POLICIES + "ssl.DefaultSslEngineFactory");
        }
        if (settings.dataCentre() == null) {
            config.withString(
                    DefaultDriverOption.LOAD_BALANCING_POLICY_CLASS,
                    POLICIES + "loadbalancing.DcInferringLoadBalancingPolicy");
        } else {
            config.withString(DefaultDriverOption.LOAD_BALANCING_LOCAL_DATACENTER, settings.dataCentre());
        }
        return config.build();
    }

    /** The most telling message of all that there are: wrong credentials first, then a refused connection, then the last cause. */
    private static String reason(Throwable failure, boolean tls) {
        List<Throwable> all = new ArrayList<>();
        collect(failure, all);
        for (Throwable each : all) {
            if (each instanceof AuthenticationException) {
                return "it refuses the user or the password: " + Failures.message(each);
            }
        }
        for (Throwable each : all) {
            if (each instanceof ConnectException || each instanceof SSLException) {
                return Failures.message(each);
            }
        }
        for (Throwable each : all) {
            if (each instanceof UnknownHostException) {
                return "there is no host " + each.getMessage();
            }
        }
        // A server that wants TLS hangs up on whoever does not.
        String hint = tls ? "" : " (does that port want TLS? Then add tls=true or ca=)";
        return Failures.message(all.get(all.size() - 1)) + hint;
    }

    private static void collect(Throwable failure, List<Throwable> all) {
        all.add(failure);
        if (all.size() > CAUSES_MAX) {
            return;
        }
        if (failure instanceof AllNodesFailedException nodes) {
            nodes.getAllErrors().values().forEach(errors -> errors.forEach(error -> collect(error, all)));
        }
        Stream.concat(Stream.ofNullable(failure.getCause()), Stream.of(failure.getSuppressed()))
                .forEach(cause -> collect(cause, all));
    }
}
