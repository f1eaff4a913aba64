package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One node of Cassandra for tests, from Maven artifacts, in a JVM of its own. It writes each change to disk before it answers, so that an
 * acknowledged change survives {@link #kill()} and {@link #restart()}. It cannot outlive this JVM. Any number of threads.
 */
public final class CassandraServer implements AutoCloseable {
    private static final Duration CONNECT_MAX = Duration.ofSeconds(1);
    private static final Duration PEERS_MAX = Duration.ofMinutes(3);
    private static final Pattern UP = Pattern.compile("(\\S+) is now UP");
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final Duration HANGS_AFTER = Duration.ofSeconds(1);
    private static final String CLASS_PATH = "cassandra.classpath";

    /** What Cassandra's own start script opens on JDK 17, and what Cassandra 4.1 needs beyond that. */
    private static final List<String> OPENS = List.of(
            "java.base/java.io",
            "java.base/java.lang",
            "java.base/java.lang.module",
            "java.base/java.lang.ref",
            "java.base/java.lang.reflect",
            "java.base/java.net",
            "java.base/java.nio",
            "java.base/java.util",
            "java.base/java.util.concurrent",
            "java.base/java.util.concurrent.atomic",
            "java.base/java.util.concurrent.locks",
            "java.base/jdk.internal.loader",
            "java.base/jdk.internal.math",
            "java.base/jdk.internal.module",
            "java.base/jdk.internal.ref",
            "java.base/jdk.internal.reflect",
            "java.base/jdk.internal.util.jar",
            "java.base/sun.nio.ch",
            "jdk.management/com.sun.management.internal");

    private static final List<String> EXPORTS = List.of(
            "java.base/java.lang.ref",
            "java.base/jdk.internal.misc",
            "java.management.rmi/com.sun.jmx.remote.internal.rmi",
            "java.rmi/sun.rmi.registry",
            "java.rmi/sun.rmi.server",
            "java.sql/java.sql",
            "jdk.attach/sun.tools.attach",
            "jdk.unsupported/sun.misc");

    private final InetSocketAddress address;
    private final Path home;
    private final ServerProcess process;

    /**
     * Where the nodes of a cluster find each other.
     *
     * @param nodes how many; each has an address of its own, 127.0.0.1 and up, and the same ports
     */
    record Ring(int nodes, int storagePort, int clientPort) {
        String seeds() {
            List<String> seeds = new ArrayList<>();
            for (int i = 1; i <= nodes; i++) {
                seeds.add("127.0.0." + i + ":" + storagePort);
            }
            return String.join(",", seeds);
        }
    }

    CassandraServer(Ring ring, int number, List<String> settings) {
        this.address = new InetSocketAddress("127.0.0." + number, ring.clientPort());
        this.home = Folders.temporary("onlyonce-cassandra");
        try {
            Files.writeString(home.resolve("cassandra.yaml"), yaml(ring, number, settings));
            Files.writeString(home.resolve("logback.xml"), """
                    <configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder>
                    <pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} %msg%n</pattern></encoder></appender>
                    <root level="INFO"><appender-ref ref="out"/></root></configuration>
                    """);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.process = new ServerProcess("Cassandra", command(), home.resolve("server.log"), "KILL", home);
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    private String yaml(Ring ring, int number, List<String> settings) {
        long token = Long.MIN_VALUE + (number - 1) * (Long.MAX_VALUE / ring.nodes() * 2);
        String text = """
                cluster_name: onlyonce
                num_tokens: 1
                initial_token: %d
                partitioner: org.apache.cassandra.dht.Murmur3Partitioner
                seed_provider: [{class_name: org.apache.cassandra.locator.SimpleSeedProvider, parameters: [{seeds: "%s"}]}]
                listen_address: %s
                rpc_address: %s
                storage_port: %d
                native_transport_port: %d
                endpoint_snitch: SimpleSnitch
                auto_bootstrap: false
                auto_snapshot: false
                commitlog_sync: batch
                paxos_variant: v2
                paxos_state_purging: repaired
                memtable_heap_space: 64MiB
                memtable_offheap_space: 32MiB
                data_file_directories: ["%s/data"]
                """.formatted(
                        token,
                        ring.seeds(),
                        address.getHostString(),
                        address.getHostString(),
                        ring.storagePort(),
                        ring.clientPort(),
                        home);
        for (String folder : List.of("commitlog", "saved_caches", "hints", "cdc_raw")) {
            text += folder + "_directory: " + home + "/" + folder + "\n";
        }
        return text + String.join("\n", settings) + "\n";
    }

    private List<String> command() {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms256m",
                "-Xmx512m",
                "-Xss512k",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:MaxDirectMemorySize=512m",
                "-Djdk.attach.allowAttachSelf=true",
                "-Dio.netty.tryReflectionSetAccessible=true",
                "-Dcassandra.config=file:" + home.resolve("cassandra.yaml"),
                "-Dlogback.configurationFile=" + home.resolve("logback.xml"),
                "-Dcassandra.storagedir=" + home,
                "-Dcassandra.skip_wait_for_gossip_to_settle=0",
                "-Dcassandra.ring_delay_ms=2000",
                "-Dcassandra.superuser_setup_delay_ms=0",
                "-Dcassandra.consistent.rangemovement=false",
                "-Dcassandra-foreground=yes"));
        OPENS.forEach(module -> command.addAll(List.of("--add-opens", module + "=ALL-UNNAMED")));
        EXPORTS.forEach(module -> command.addAll(List.of("--add-exports", module + "=ALL-UNNAMED")));
        String classPath = classPath();
        // The library with which 4.1 measures objects fails on lambdas of JDK 17, unless it is an agent.
        Stream.of(classPath.split(":", -1))
                .filter(jar -> jar.contains("/jamm-0.3."))
                .forEach(jar -> command.add("-javaagent:" + jar));
        command.addAll(List.of("-cp", classPath, "org.apache.cassandra.service.CassandraDaemon"));
        return command;
    }

    private static String classPath() {
        try (InputStream in = CassandraServer.class.getResourceAsStream(CLASS_PATH)) {
            if (in == null) {
                throw new IllegalStateException(
                        "The module cassandra-node is not built: " + CLASS_PATH + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void start() {
        process.start(this::answers, Duration.ZERO);
    }

    /** Waits until its log says that the others are up, for a bounded time: the log is for people. */
    void awaitPeers(int peers) {
        long giveUp = System.nanoTime() + PEERS_MAX.toNanos();
        try {
            while (peersUp() < peers) {
                if (System.nanoTime() - giveUp > 0) {
                    throw new IllegalStateException("A node of Cassandra has not seen the others in " + PEERS_MAX);
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private long peersUp() throws IOException {
        return UP.matcher(Files.readString(home.resolve("server.log")))
                .results()
                .map(found -> found.group(1))
                .distinct()
                .count();
    }

    /** It listens for clients only when it has joined the ring. */
    private boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(address, (int) CONNECT_MAX.toMillis());
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Where clients connect to. */
    public InetSocketAddress address() {
        return address;
    }

    /** Ends the node with SIGKILL, as a crash would; the data stay. Does nothing when it is down. */
    public void kill() {
        process.signal("KILL");
    }

    /** Stops the node with SIGSTOP: it hangs, and its connections stay open. Returns when it does. */
    public void freeze() {
        process.pass("STOP");
        long giveUp = System.nanoTime() + PEERS_MAX.toNanos();
        while (answersSoon()) {
            if (System.nanoTime() - giveUp > 0) {
                throw new IllegalStateException("The node goes on after SIGSTOP");
            }
        }
    }

    /** Asks for the options of the protocol, in version 4. */
    private boolean answersSoon() {
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.setSoTimeout((int) HANGS_AFTER.toMillis());
            socket.getOutputStream().write(new byte[] {4, 0, 0, 0, 5, 0, 0, 0, 0});
            return socket.getInputStream().read() >= 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets a node that hangs go on. */
    public void thaw() {
        process.pass("CONT");
    }

    /** Starts a node that is down again, with the same address and data. Returns when it takes clients. */
    public void restart() {
        start();
    }

    /** Ends the node for good and deletes its data. */
    @Override
    public void close() {
        process.signal("KILL");
        Folders.delete(home);
    }
}
