package dev.onlyonce.benchmarks;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A gateway as it is shipped, in a process of its own. */
final class GatewayProcess implements AutoCloseable {
    private static final Path JAR = Path.of("programs", "server", "target", "onlyonce.jar");
    private static final Pattern PORT =
            Pattern.compile(" (?:listening on|operators connect to) 127\\.0\\.0\\.1:(\\d+)");

    private static final int WARNINGS_MAX = 10;

    private final Child process;
    private final int port;
    private final int adminPort;

    private GatewayProcess(Child process) throws IOException {
        this.process = process;
        port = readPort(process);
        adminPort = readPort(process);
    }

    /** With this configuration besides its listeners. */
    static GatewayProcess start(Path folder, String yaml, Options.Gateway options) throws IOException {
        if (!Files.exists(JAR)) {
            throw new IOException(JAR + " is missing: run this by testing/benchmarks/run, from the root");
        }
        Path config = Files.writeString(
                folder.resolve("gateway.yaml"),
                "listen: {host: 127.0.0.1, port: 0, io-uring: %s}\nadmin: {port: 0}\n%s"
                        .formatted(options.ioUring(), yaml));
        Map<String, String> environment = new HashMap<>(Map.of("ONLYONCE_JAR", JAR.toString()));
        if (!options.java().isEmpty()) {
            environment.put("JDK_JAVA_OPTIONS", options.java());
        }
        return new GatewayProcess(
                Child.program(List.of("./onlyonce", "gateway", "--config", config.toString()), environment));
    }

    /** The next port that it names; it warns of settings before. */
    private static int readPort(Child process) throws IOException {
        StringBuilder said = new StringBuilder();
        for (int line = 0; line < WARNINGS_MAX; line++) {
            String text = process.read();
            Matcher port = PORT.matcher(text);
            if (port.find()) {
                return Integer.parseInt(port.group(1));
            }
            said.append(text).append('\n');
        }
        throw new IOException("the gateway said: " + said);
    }

    int port() {
        return port;
    }

    long pid() {
        return process.pid();
    }

    /** What the script gave its JVM. */
    String javaOptions() {
        return process.arguments().stream()
                .takeWhile(argument -> !argument.equals("-jar"))
                .collect(Collectors.joining(" "));
    }

    /** The sum of a metric over its tags; 0 if there is none yet. */
    double metric(String name) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + "/metrics"))
                .build();
        String metrics = HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
        return metrics.lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    void kill() throws IOException {
        process.kill();
    }

    @Override
    public void close() throws IOException {
        process.close();
    }
}
