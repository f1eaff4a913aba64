package dev.onlyonce.testservers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * RabbitMQ for tests, if the machine has it: it is not to be had as a Maven artifact. It has a node name, data, a port mapper and ports of
 * its own, so it does not meet a RabbitMQ that runs on the machine. User and password are {@code guest}. It cannot outlive this JVM. Any
 * number of threads.
 */
public final class RabbitMqServer implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** On Debian, the program on the path insists on another user. */
    private static final Path DEBIAN = Path.of("/usr/lib/rabbitmq/bin/rabbitmq-server");

    private final int port;
    private final Path home;
    private final ServerProcess portMapper;
    private final ServerProcess process;

    private RabbitMqServer(String program, int port, Path home) {
        this.port = port;
        this.home = home;
        int mapperPort = ServerUrl.freePort();
        this.portMapper = new ServerProcess(
                "epmd",
                List.of("epmd", "-port", Integer.toString(mapperPort), "-address", "127.0.0.1"),
                home.resolve("epmd.log"),
                "KILL",
                null);
        Map<String, String> settings = new TreeMap<>(Map.of(
                "HOME", home.toString(),
                "RABBITMQ_NODENAME", "onlyonce-" + port + "@localhost",
                "RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1",
                "RABBITMQ_NODE_PORT", Integer.toString(port),
                "RABBITMQ_DIST_PORT", Integer.toString(ServerUrl.freePort()),
                "RABBITMQ_MNESIA_BASE", home.resolve("data").toString(),
                "RABBITMQ_LOG_BASE", home.resolve("log").toString(),
                "RABBITMQ_LOGS", "-",
                "RABBITMQ_ENABLED_PLUGINS_FILE", home.resolve("plugins").toString()));
        settings.put("RABBITMQ_CONFIG_FILE", home.resolve("rabbitmq").toString());
        settings.put("RABBITMQ_CONF_ENV_FILE", home.resolve("rabbitmq-env.conf").toString());
        settings.put("RABBITMQ_ADVANCED_CONFIG_FILE", home.resolve("advanced").toString());
        settings.put("RABBITMQ_PID_FILE", home.resolve("pid").toString());
        // Then the script becomes the server, and a signal reaches it.
        settings.put("RABBITMQ_ALLOW_INPUT", "true");
        settings.put("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-setcookie onlyonce -noinput");
        settings.put("ERL_EPMD_PORT", Integer.toString(mapperPort));
        settings.put("ERL_EPMD_ADDRESS", "127.0.0.1");
        List<String> command = new ArrayList<>(List.of("env"));
        settings.forEach((name, value) -> command.add(name + "=" + value));
        command.add(program);
        this.process = new ServerProcess("RabbitMQ", command, home.resolve("server.log"), "KILL", home);
    }

    /** Whether {@link #start} can find the program. */
    public static boolean isInstalled() {
        return program().isPresent();
    }

    private static Optional<String> program() {
        if (Files.isExecutable(DEBIAN)) {
            return Optional.of(DEBIAN.toString());
        }
        return ServerProcess.succeeds("sh", "-c", "command -v rabbitmq-server && command -v epmd")
                ? Optional.of("rabbitmq-server")
                : Optional.empty();
    }

    /** Starts a broker of the caller's own. */
    public static RabbitMqServer start() {
        String program = program().orElseThrow(() -> new IllegalStateException("rabbitmq-server is not on the PATH"));
        RabbitMqServer server =
                new RabbitMqServer(program, ServerUrl.freePort(), Folders.temporary("onlyonce-rabbitmq"));
        try {
            server.portMapper.start(() -> true, Duration.ZERO);
            server.process.start(server::answers, Duration.ZERO);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        return server;
    }

    private boolean answers() {
        return QpidServer.answersAmqp(port);
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
        process.start(this::answers, PATIENCE);
    }

    /** Ends the broker for good and deletes its data. */
    @Override
    public void close() {
        process.signal("KILL");
        portMapper.signal("KILL");
        Folders.delete(home);
    }
}
