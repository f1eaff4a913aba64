package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;

/**
 * A Kafka broker for tests, from Maven artifacts, in a JVM of its own; it is its own controller. It writes each message to disk before
 * it acknowledges, so that an acknowledged message survives {@link #kill()} and {@link #restart()}. It cannot outlive this JVM. Any
 * number of threads.
 */
public final class KafkaServer implements AutoCloseable {
    private static final Duration CONNECT_MAX = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String CLASS_PATH = "kafka.classpath";

    private final int port;
    private final Path home;
    private final ServerProcess process;

    private KafkaServer(int port, Path home) {
        this.port = port;
        this.home = home;
        this.process = new ServerProcess(
                "Kafka",
                java(home, "kafka.Kafka", settings(home).toString()),
                home.resolve("server.log"),
                "KILL",
                home);
    }

    /**
     * Starts a broker of the caller's own.
     *
     * @param settings as in server.properties, e.g. {@code "auto.create.topics.enable=false"}; they win over the defaults for tests
     */
    public static KafkaServer start(String... settings) {
        Path home = Folders.temporary("onlyonce-kafka");
        int port = ServerUrl.freePort();
        KafkaServer server = new KafkaServer(port, home);
        try {
            Files.writeString(settings(home), properties(home, port, settings));
            Files.writeString(home.resolve("log4j2.properties"), """
                    appender.out.type=Console
                    appender.out.name=out
                    appender.out.layout.type=PatternLayout
                    appender.out.layout.pattern=%d{HH:mm:ss.SSS} %p %c{1} %m%n
                    rootLogger.level=WARN
                    rootLogger.appenderRef.out.ref=out
                    """);
            List<String> format = java(
                    home,
                    "kafka.tools.StorageTool",
                    "format",
                    "-t",
                    clusterId(),
                    "-c",
                    settings(home).toString());
            ServerProcess.run(format, Path.of("/dev/null"), home.resolve("format.log"));
            server.process.start(server::answers, Duration.ZERO);
        } catch (IOException e) {
            server.close();
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        return server;
    }

    private static Path settings(Path home) {
        return home.resolve("server.properties");
    }

    /** Kafka's own form of a UUID. */
    private static String clusterId() {
        UUID id = UUID.randomUUID();
        byte[] bytes = ByteBuffer.allocate(16)
                .putLong(id.getMostSignificantBits())
                .putLong(id.getLeastSignificantBits())
                .array();
        // The tool takes an argument that begins with a hyphen for an option.
        bytes[0] = 0;
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    private static String properties(Path home, int port, String... settings) {
        int controller = ServerUrl.freePort();
        String text = """
                process.roles=broker,controller
                node.id=1
                controller.quorum.voters=1@127.0.0.1:%2$d
                listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                advertised.listeners=PLAINTEXT://127.0.0.1:%1$d
                controller.listener.names=CONTROLLER
                log.dirs=%3$s/data
                log.flush.interval.messages=1
                offsets.topic.replication.factor=1
                offsets.topic.num.partitions=1
                transaction.state.log.replication.factor=1
                transaction.state.log.min.isr=1
                transaction.state.log.num.partitions=1
                share.coordinator.state.topic.replication.factor=1
                share.coordinator.state.topic.min.isr=1
                group.initial.rebalance.delay.ms=0
                group.min.session.timeout.ms=1000
                """.formatted(port, controller, home);
        return text + String.join("\n", settings) + "\n";
    }

    private static List<String> java(Path home, String... program) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dlog4j2.configurationFile=" + home.resolve("log4j2.properties"),
                "-cp",
                classPath()));
        command.addAll(List.of(program));
        return command;
    }

    private static String classPath() {
        try (InputStream in = KafkaServer.class.getResourceAsStream(CLASS_PATH)) {
            if (in == null) {
                throw new IllegalStateException("The module kafka-node is not built: " + CLASS_PATH + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** It listens for clients only when it has joined its controller. */
    private boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), (int) CONNECT_MAX.toMillis());
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** For {@code bootstrap.servers}. */
    public String address() {
        return "127.0.0.1:" + port;
    }

    /** Ends the broker with SIGKILL, as a crash would; the data stay. Does nothing when it is down. */
    public void kill() {
        process.signal("KILL");
    }

    /** Starts a broker that is down again, on the same port and data. Returns when it listens. */
    public void restart() {
        process.start(this::answers, PATIENCE);
    }

    /** Ends the broker for good and deletes its data. */
    @Override
    public void close() {
        process.signal("KILL");
        Folders.delete(home);
    }
}
