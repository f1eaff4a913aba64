package dev.onlyonce.prove;

import dev.onlyonce.prove.Seen.Asked;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A node as the prover sees it: a process that can be killed, paused and asked. */
final class NodeProcess implements AutoCloseable {
    private static final Pattern CODE = Pattern.compile("\"code\"\\s*:\\s*\"([a-z_]+)\"");

    private final String name;
    private final Program program;
    private final Path folder;
    private final List<String> builds;
    private final HttpClient http;
    private @Nullable Process process;
    private volatile int port;
    private int starts;

    /** What runs in the process, and how it is asked. */
    interface Program {
        /** The main class and its arguments. Called before each start. */
        List<String> arguments() throws IOException;

        /** Its port if it has come up; else 0. */
        int portIfUp() throws IOException;

        /** Where requests of a work are sent. */
        String path(Work work);

        /** Whether it takes requests of this way. */
        boolean executes(Work.Way way);
    }

    /**
     * @param builds class paths; each start takes the next one, which makes an upgrade while others run
     * @param folder for what it prints
     */
    NodeProcess(String name, Program program, List<String> builds, Path folder) {
        this.name = name;
        this.program = program;
        this.builds = List.copyOf(builds);
        this.folder = folder;
        this.http =
                HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();
    }

    /** The class path of this process. */
    static String build() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** Its id while it runs. */
    synchronized long pid() {
        if (process == null) {
            throw new IllegalStateException(name + " does not run");
        }
        return process.pid();
    }

    boolean executes(Work.Way way) {
        return program.executes(way);
    }

    String name() {
        return name;
    }

    boolean isUp() {
        return port != 0;
    }

    /** Starts it, and returns at once: it is up when it has opened its store. */
    synchronized void start() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx160m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Dlogback.configurationFile=prove-logback.xml",
                "-Dprove.level=WARN",
                "-D" + Timing.PACE + "=" + Integer.getInteger(Timing.PACE, 1),
                "-cp",
                builds.get(starts++ % builds.size())));
        command.addAll(program.arguments());
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        folder.resolve(name + ".log").toFile()))
                .start();
        Orphans.guard(process.pid());
    }

    /** Looks whether it has come up. */
    synchronized void look() throws IOException {
        if (port == 0 && process != null) {
            if (!process.isAlive()) {
                Orphans.free(process.pid());
                // Its store was down. Whoever runs it would start it again.
                start();
            }
            port = program.portIfUp();
        }
    }

    /** Ends it with SIGKILL. */
    synchronized void kill() throws InterruptedException {
        port = 0;
        if (process != null) {
            process.destroyForcibly().waitFor();
            Orphans.free(process.pid());
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

    /** Lets its writes to files fail for a while. It may be down. */
    void limitWrites(int millis) throws IOException, InterruptedException {
        Process limited;
        synchronized (this) {
            limited = process;
        }
        if (limited != null) {
            ServerProcesses.failWrites(limited.pid());
            Pause.millis(millis);
            if (limited.isAlive()) {
                ServerProcesses.healWrites(limited.pid());
            }
        }
    }

    /** Sets its wall clock. It may be down. */
    void jump(int minutes) throws InterruptedException {
        try {
            http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + NodeMain.JUMP))
                            .timeout(Timing.ANSWER_MAX)
                            .header(NodeMain.MINUTES, String.valueOf(minutes))
                            .build(),
                    BodyHandlers.discarding());
        } catch (IOException | IllegalArgumentException e) {
            // It is down.
        }
    }

    /** Sends a request, and waits for its answer for this long. */
    Asked ask(Work work, String body, Duration max) throws InterruptedException {
        long begun = System.nanoTime();
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + program.path(work)))
                    .timeout(max)
                    .header(NodeMain.TENANT, work.tenant())
                    .header(NodeMain.WAY, work.way().name())
                    .header(NodeMain.KEY, work.name())
                    .header(Ledger.NAME, work.name())
                    .POST(BodyPublishers.ofString(body))
                    .build();
            HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
            boolean replayed = response.headers().firstValue(NodeMain.REPLAYED).isPresent();
            return new Asked(
                    work, body, name, begun, System.nanoTime(), response.statusCode(), told(response), replayed);
        } catch (IOException e) {
            return new Asked(work, body, name, begun, System.nanoTime(), 0, String.valueOf(e), false);
        }
    }

    /** The name of a problem, or the answer. */
    private static String told(HttpResponse<String> response) {
        Matcher code = CODE.matcher(response.body());
        return response.statusCode() != 200 && code.find() ? code.group(1) : response.body();
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
