package dev.onlyonce.payments;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The payments application in a process of its own, which can be killed as a crash would, and started again. */
final class Instance implements AutoCloseable {
    private static final Duration START_PATIENCE = Duration.ofMinutes(5);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<String> command = new ArrayList<>();
    private final int port;
    private final File log;
    private volatile Process process;

    private Instance(String main, String classPath, int port, Path log) {
        this.port = port;
        this.log = log.toFile();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Short lives: compile little, reserve little.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m", "-Xshare:auto"));
        if (Runtime.version().feature() >= 24) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.addAll(List.of("-cp", classPath, main, "app", "--server.port=" + port));
        Runtime.getRuntime().addShutdownHook(new Thread(this::kill));
    }

    /** Starts one; it is healthy some seconds later. */
    static Instance launch(Class<?> main, int port, Path folder, List<String> settings) {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return launch(new Instance(main.getName(), classPath, port, log(folder, port)), settings);
    }

    /** Starts the payments with a class path of its own. */
    static Instance launch(String classPath, int port, Path folder, List<String> settings) {
        return launch(new Instance(Main.class.getName(), classPath, port, log(folder, port)), settings);
    }

    private static Instance launch(Instance instance, List<String> settings) {
        settings.forEach(setting -> instance.command.add("--" + setting));
        instance.launch();
        return instance;
    }

    private static Path log(Path folder, int port) {
        return folder.resolve("instance-" + port + ".log");
    }

    URI url() {
        return URI.create("http://127.0.0.1:" + port);
    }

    /** SIGKILL; returns when it is dead. */
    synchronized void kill() {
        if (process != null) {
            process.destroyForcibly();
            try {
                process.waitFor();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Starts it, where it was. */
    synchronized void launch() {
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns when it takes requests. */
    void awaitHealthy() throws InterruptedException {
        long end = System.nanoTime() + START_PATIENCE.toNanos();
        while (!isHealthy()) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("The instance does not become healthy, see " + said());
            }
            letRun(Duration.ofMillis(50));
        }
    }

    /** Lets it run for so long; it must not end by itself. */
    void letRun(Duration time) throws InterruptedException {
        if (process.waitFor(time.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException("The instance ended with " + process.exitValue() + ": " + said());
        }
    }

    /** What it has logged. */
    String said() {
        try {
            return Files.readString(log.toPath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isHealthy() throws InterruptedException {
        try {
            HttpRequest request = HttpRequest.newBuilder(url().resolve("/health"))
                    .timeout(Duration.ofSeconds(10))
                    .build();
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        kill();
    }
}
