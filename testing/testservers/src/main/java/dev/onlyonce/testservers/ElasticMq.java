package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * ElasticMQ for tests: an emulator of Amazon SQS from Maven artifacts, in a JVM of its own. It cannot outlive this JVM. Any number of
 * threads.
 */
public final class ElasticMq implements AutoCloseable {
    private static final Duration ANSWER_MAX = Duration.ofSeconds(20);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String CLASS_PATH = "elasticmq.classpath";

    private final int port;
    private final Path home;
    private final ServerProcess process;

    private ElasticMq(int port, Path home) {
        this.port = port;
        this.home = home;
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dconfig.file=" + home.resolve("elasticmq.conf"),
                "-Dlogback.configurationFile=" + home.resolve("logback.xml"),
                "-cp",
                classPath(),
                "org.elasticmq.server.Main");
        this.process = new ServerProcess("ElasticMQ", command, home.resolve("server.log"), "KILL", home);
    }

    /** Starts a server of the caller's own. Its queues are in memory: they are gone after {@link #kill()}. */
    public static ElasticMq start() {
        return start("");
    }

    /**
     * Starts a server whose queues and messages survive {@link #kill()} and {@link #restart()}. It is slower. After a restart it has
     * forgotten the order of FIFO queues.
     */
    public static ElasticMq startDurable() {
        // H2 writes each commit at once, not half a second later.
        return start("messages-storage { enabled = true, uri = \"jdbc:h2:HOME/messages;WRITE_DELAY=0\" }");
    }

    private static ElasticMq start(String settings) {
        Path home = Folders.temporary("onlyonce-elasticmq");
        int port = ServerUrl.freePort();
        ElasticMq server = new ElasticMq(port, home);
        try {
            Files.writeString(
                    home.resolve("elasticmq.conf"),
                    """
                    include classpath("application.conf")
                    node-address { protocol = http, host = "127.0.0.1", port = %1$d, context-path = "" }
                    rest-sqs { enabled = true, bind-hostname = "127.0.0.1", bind-port = %1$d, sqs-limits = strict }
                    pekko.loglevel = "WARNING"
                    """.formatted(port) + settings.replace("HOME", home.toString()) + "\n");
            Files.writeString(home.resolve("logback.xml"), """
                    <configuration>
                      <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
                        <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} %msg%n</pattern></encoder>
                      </appender>
                      <root level="WARN"><appender-ref ref="out"/></root>
                    </configuration>
                    """);
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

    private static String classPath() {
        try (InputStream in = ElasticMq.class.getResourceAsStream(CLASS_PATH)) {
            if (in == null) {
                throw new IllegalStateException(
                        "The module elasticmq-node is not built: " + CLASS_PATH + " is missing");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where it listens. */
    public String endpoint() {
        return "http://127.0.0.1:" + port;
    }

    /** Where it listens, for a proxy before it. */
    public int port() {
        return port;
    }

    private boolean answers() {
        HttpRequest request = HttpRequest.newBuilder(URI.create(endpoint()))
                .timeout(ANSWER_MAX)
                .header("X-Amz-Target", "AmazonSQS.ListQueues")
                .header("Content-Type", "application/x-amz-json-1.0")
                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                .build();
        try {
            return HttpClient.newHttpClient()
                            .send(request, HttpResponse.BodyHandlers.discarding())
                            .statusCode()
                    == 200;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for ElasticMQ", e);
        }
    }

    /** Ends the server with SIGKILL, as a crash would. Does nothing when it is down. */
    public void kill() {
        process.signal("KILL");
    }

    /** Starts a server that is down again, on the same port. Returns when it answers. */
    public void restart() {
        process.start(this::answers, PATIENCE);
    }

    /** Ends the server for good. */
    @Override
    public void close() {
        process.signal("KILL");
        Folders.delete(home);
    }
}
