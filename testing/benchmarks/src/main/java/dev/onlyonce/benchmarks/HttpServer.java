package dev.onlyonce.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** One contender's application in a process of its own, which ends when this one does. */
final class HttpServer implements AutoCloseable {
    private static final int STOP_SECONDS = 20;

    private final Process process;
    private final int port;

    private HttpServer(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    static HttpServer start(HttpContender contender, String jdbcUrl) throws IOException {
        String java = ProcessHandle.current().info().command().orElse("java");
        Process process = new ProcessBuilder(
                        java,
                        "-Xmx1g",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HttpApp.class.getName(),
                        "--contender=" + contender.name().toLowerCase(Locale.ROOT),
                        "--spring.datasource.url=" + jdbcUrl,
                        "--spring.datasource.hikari.maximum-pool-size=" + Databases.POOL,
                        "--onlyonce.enabled=" + contender.isStarter(),
                        // As the hand-written ones, whose duplicates wait for the row.
                        "--onlyonce.wait-max=10s",
                        "--server.port=0",
                        // A connection is one client from beginning to end.
                        "--server.tomcat.max-keep-alive-requests=-1",
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=WARN")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (line.startsWith(HttpApp.PORT)) {
                return new HttpServer(process, Integer.parseInt(line.substring(HttpApp.PORT.length())));
            }
        }
        throw new IOException("the server " + contender + " did not start");
    }

    int port() {
        return port;
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        // Whoever still waits for a connection of the pool would keep it for longer.
        process.onExit()
                .completeOnTimeout(process, STOP_SECONDS, TimeUnit.SECONDS)
                .join();
        process.destroyForcibly();
    }
}
