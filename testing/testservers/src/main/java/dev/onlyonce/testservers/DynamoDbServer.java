package dev.onlyonce.testservers;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * DynamoDB Local for tests, in memory, in a process of its own. Its licence is for owners of an AWS account: tests that use it are left
 * out with {@code -D}{@value #PROPERTY}{@code =false}. It cannot outlive this JVM. Any number of threads.
 */
public final class DynamoDbServer implements AutoCloseable {
    /** Says {@code false} to leave out the tests that use this server. */
    public static final String PROPERTY = "dynamodb.local";

    private static final Duration ANSWER_MAX = Duration.ofSeconds(20);
    private static final String LIBRARY = "libsqlite4java-linux-amd64-";

    private final int port;
    private final Path home;
    private final ServerProcess process;

    private DynamoDbServer(int port, Path home) {
        this.port = port;
        this.home = home;
        String classPath = classPath();
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dsqlite4java.library.path=" + library(classPath, home),
                "-Djava.io.tmpdir=" + home,
                "-cp",
                classPath,
                "dev.onlyonce.dynamodblocal.LoopbackServer",
                "-inMemory",
                "-disableTelemetry",
                "-port",
                Integer.toString(port));
        this.process = new ServerProcess("DynamoDB Local", command, home.resolve("server.log"), "KILL", home);
    }

    /** Returns the one server of this JVM, started when first asked for and stopped when the JVM ends. */
    public static DynamoDbServer shared() {
        return Shared.SERVER;
    }

    private static final class Shared {
        private static final DynamoDbServer SERVER = start();
    }

    /** Starts a server of the caller's own. */
    public static DynamoDbServer start() {
        if ("false".equals(System.getProperty(PROPERTY))) {
            throw new IllegalStateException("DynamoDB Local is left out by -D" + PROPERTY + "=false");
        }
        DynamoDbServer server = new DynamoDbServer(ServerUrl.freePort(), Folders.temporary("onlyonce-dynamodb"));
        try {
            server.process.start(server::answers, Duration.ZERO);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        return server;
    }

    /** The libraries of DynamoDB Local, and the module that starts it. */
    private static String classPath() {
        try (InputStream in = DynamoDbServer.class.getResourceAsStream("/dynamodb-local.classpath")) {
            if (in == null) {
                throw new IllegalStateException("The module dynamodb-local is not built");
            }
            String starter = Path.of(Class.forName(
                                    "dev.onlyonce.dynamodblocal.LoopbackServer",
                                    false,
                                    DynamoDbServer.class.getClassLoader())
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
            return starter + ":" + new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (ReflectiveOperationException | URISyntaxException e) {
            throw new IllegalStateException("The module dynamodb-local is not built", e);
        }
    }

    /** SQLite looks for its library in one folder; on the class path it is a file of its own. */
    private static Path library(String classPath, Path folder) {
        for (String each : classPath.split(":", -1)) {
            Path file = Path.of(each);
            String name = String.valueOf(file.getFileName());
            if (name.startsWith(LIBRARY)) {
                try {
                    Files.copy(file, folder.resolve(name));
                    return folder;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }
        throw new IllegalStateException("No " + LIBRARY + " on the class path of DynamoDB Local");
    }

    public int port() {
        return port;
    }

    /** Where it listens. */
    public String endpoint() {
        return "http://127.0.0.1:" + port;
    }

    /** Asks for its tables, so that its classes are loaded when the first test asks. */
    private boolean answers() {
        HttpRequest request = HttpRequest.newBuilder(URI.create(endpoint()))
                .timeout(ANSWER_MAX)
                .header("X-Amz-Target", "DynamoDB_20120810.ListTables")
                .header("Content-Type", "application/x-amz-json-1.0")
                .header(
                        "Authorization",
                        "AWS4-HMAC-SHA256 Credential=local/20260101/eu-central-1/dynamodb/aws4_request,"
                                + " SignedHeaders=host, Signature=none")
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
            throw new IllegalStateException("Interrupted while waiting for DynamoDB Local", e);
        }
    }

    /** Ends the server with SIGKILL; all data are lost. Does nothing when it is down. */
    public void kill() {
        process.signal("KILL");
    }

    /** Ends the server for good. */
    @Override
    public void close() {
        process.signal("KILL");
        Folders.delete(home);
    }
}
