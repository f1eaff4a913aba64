package dev.onlyonce.prove;

import dev.onlyonce.prove.Seen.Asked;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A node as the prover sees it: a process that can be killed, paused and asked. */
final class NodeProcess implements AutoCloseable {
    private static final Duration ANSWER_MAX = Duration.ofSeconds(6);

    private final String name;
    private final List<String> arguments;
    private final Path folder;
    private final HttpClient http;
    private @Nullable Process process;
    private volatile int port;

    /**
     * @param url of the store, by way of the network of this node
     * @param folder for its port and what it prints
     */
    NodeProcess(String name, String url, int ledger, Plant plant, Path folder) {
        this.name = name;
        this.folder = folder;
        this.http =
                HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();
        arguments = List.of(name, url, String.valueOf(ledger), portFile().toString(), plant.label());
    }

    private Path portFile() {
        return folder.resolve(name + ".port");
    }

    String name() {
        return name;
    }

    boolean isUp() {
        return port != 0;
    }

    /** Starts it, and returns at once: it is up when it has opened its store. */
    synchronized void start() throws IOException {
        Files.deleteIfExists(portFile());
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-Dorg.slf4j.simpleLogger.showDateTime=true",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                NodeMain.class.getName()));
        command.addAll(arguments);
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        folder.resolve(name + ".log").toFile()))
                .start();
    }

    /** Looks whether it has come up. */
    synchronized void look() throws IOException {
        if (port == 0 && process != null && Files.exists(portFile())) {
            port = Integer.parseInt(Files.readString(portFile()));
        }
    }

    /** Ends it with SIGKILL. */
    synchronized void kill() throws InterruptedException {
        port = 0;
        if (process != null) {
            process.destroyForcibly().waitFor();
            process = null;
        }
    }

    /** Stops it with SIGSTOP, or lets it go on. */
    synchronized void signal(String signal) throws IOException, InterruptedException {
        if (process != null) {
            new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                    .start()
                    .waitFor(5, TimeUnit.SECONDS);
        }
    }

    /** Sends a request. */
    Asked ask(Work work, String body) throws InterruptedException {
        long begun = System.nanoTime();
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
                    .timeout(ANSWER_MAX)
                    .header(NodeMain.TENANT, work.tenant())
                    .header(NodeMain.WAY, work.way().name())
                    .header(NodeMain.KEY, work.name())
                    .POST(BodyPublishers.ofString(body))
                    .build();
            HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
            boolean replayed = response.headers().firstValue(NodeMain.REPLAYED).isPresent();
            return new Asked(
                    work, body, name, begun, System.nanoTime(), response.statusCode(), response.body(), replayed);
        } catch (IOException e) {
            return new Asked(work, body, name, begun, System.nanoTime(), 0, String.valueOf(e), false);
        }
    }

    @Override
    public void close() {
        try {
            kill();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
