package dev.onlyonce.consumer;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An application in a process of its own, and a client for it. */
final class Application implements AutoCloseable {
    private static final long PAUSE_MILLIS = 50;
    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(3);

    private final Process process;
    private final Path log;
    private final int port;
    private final HttpClient client = HttpClient.newHttpClient();

    /** Starts a jar in a folder and waits until it answers. */
    Application(Path jar, Path folder, String... arguments) throws IOException {
        log = Files.createTempFile(folder, "application", ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-jar",
                jar.toString()));
        command.addAll(Arrays.asList(arguments));
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        // Not an argument: an application may ignore its arguments.
        builder.environment().put("SERVER_PORT", "0");
        process = builder.start();
        try {
            port = awaitPort();
        } catch (Throwable e) {
            process.destroyForcibly();
            throw e;
        }
    }

    private int awaitPort() {
        awaitPrinted("Started ");
        Matcher started = Pattern.compile("started on port (\\d+)").matcher(printed());
        if (!started.find()) {
            throw new AssertionError("there is no port in:\n" + printed());
        }
        return Integer.parseInt(started.group(1));
    }

    String printed() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Waits until it has printed this. */
    void awaitPrinted(String text) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!printed().contains(text)) {
            boolean ended;
            try {
                ended = process.waitFor(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            if (ended || System.nanoTime() > end) {
                throw new AssertionError("it has not printed \"" + text + "\":\n" + printed());
            }
        }
    }

    CompletableFuture<HttpResponse<String>> begin(String user, String path, String key, String body) {
        HttpRequest.Builder request = request(user, path).POST(HttpRequest.BodyPublishers.ofString(body));
        if (key != null) {
            request.header("Idempotency-Key", key);
        }
        return client.sendAsync(
                request.header("Content-Type", "application/json").build(), BodyHandlers.ofString());
    }

    HttpResponse<String> post(String user, String path, String key, String body) {
        return begin(user, path, key, body).join();
    }

    HttpResponse<String> get(String user, String path) {
        return client.sendAsync(request(user, path).build(), BodyHandlers.ofString())
                .join();
    }

    private HttpRequest.Builder request(String user, String path) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
                .timeout(Duration.ofMinutes(2));
        if (user != null) {
            String credentials = Base64.getEncoder()
                    .encodeToString((user + ":secret").getBytes(java.nio.charset.StandardCharsets.UTF_8));
            request.header("Authorization", "Basic " + credentials);
        }
        return request;
    }

    /** {@code kill -9}. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
