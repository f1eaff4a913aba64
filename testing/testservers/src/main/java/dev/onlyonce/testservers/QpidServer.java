package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Apache Qpid Broker-J for tests, an AMQP 0-9-1 broker from Maven artifacts, in a JVM of its own. It writes persistent messages of durable
 * queues to disk before it confirms them, so that they survive {@link #kill()} and {@link #restart()}. User and password are {@code guest}.
 * It cannot outlive this JVM. Any number of threads.
 */
public final class QpidServer implements AutoCloseable {
    private static final Duration ANSWER_MAX = Duration.ofSeconds(5);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String CLASS_PATH = "qpid.classpath";
    /** It listens before, and refuses clients until its messages are found. */
    private static final String READY = "BRK-1004";
    /** What a client of AMQP 0-9-1 says first. */
    private static final byte[] GREETING = {'A', 'M', 'Q', 'P', 0, 0, 9, 1};

    private final int port;
    private final Path home;
    private final ServerProcess process;

    private QpidServer(int port, Path home) {
        this.port = port;
        this.home = home;
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:MaxDirectMemorySize=512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dderby.stream.error.file=" + home.resolve("derby.log"),
                "-Djava.io.tmpdir=" + home,
                "-cp",
                classPath(),
                "org.apache.qpid.server.Main",
                "-st",
                "JSON",
                "-sp",
                home.resolve("config.json").toString(),
                "-icp",
                initial(home).toString(),
                "-prop",
                "qpid.work_dir=" + home.resolve("work"));
        this.process = new ServerProcess("Qpid", command, log(), "KILL", home);
    }

    /** Starts a broker of the caller's own. */
    public static QpidServer start() {
        Path home = Folders.temporary("onlyonce-qpid");
        int port = ServerUrl.freePort();
        QpidServer server = new QpidServer(port, home);
        try {
            Files.writeString(initial(home), """
                    {"name": "test", "modelVersion": "9.1",
                     "authenticationproviders": [{"name": "plain", "type": "Plain", "secureOnlyMechanisms": [],
                       "users": [{"name": "guest", "type": "managed", "password": "guest"}]}],
                     "ports": [{"name": "amqp", "port": "%d", "bindingAddress": "127.0.0.1", "protocols": ["AMQP_0_9_1"],
                       "authenticationProvider": "plain",
                       "virtualhostaliases": [{"name": "default", "type": "defaultAlias"}, {"name": "name", "type": "nameAlias"}]}],
                     "virtualhostnodes": [{"name": "default", "type": "JSON", "defaultVirtualHostNode": "true",
                       "virtualHostInitialConfiguration": "{\\"type\\": \\"DERBY\\"}"}]}
                    """.formatted(port));
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

    private static Path initial(Path home) {
        return home.resolve("initial.json");
    }

    private static String classPath() {
        try (InputStream in = QpidServer.class.getResourceAsStream(CLASS_PATH)) {
            if (in == null) {
                throw new IllegalStateException("The module qpid-node is not built: " + CLASS_PATH + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path log() {
        return home.resolve("server.log");
    }

    private boolean answers() {
        try {
            return Files.exists(log()) && Files.readString(log()).contains(READY) && answersAmqp(port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether a broker says something when it is greeted. */
    static boolean answersAmqp(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) ANSWER_MAX.toMillis());
            socket.getOutputStream().write(GREETING);
            return socket.getInputStream().read() == 1;
        } catch (IOException e) {
            return false;
        }
    }

    /** Where it listens, on the loopback interface. */
    public int port() {
        return port;
    }

    /** Ends the broker with SIGKILL, as a crash would; the data stay. Does nothing when it is down. */
    public void kill() {
        process.signal("KILL");
    }

    /** Starts a broker that is down again, on the same port and data. Returns when it answers. */
    public void restart() {
        try {
            Files.deleteIfExists(log());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        process.start(this::answers, PATIENCE);
    }

    /** Ends the broker for good and deletes its data. */
    @Override
    public void close() {
        process.signal("KILL");
        Folders.delete(home);
    }
}
