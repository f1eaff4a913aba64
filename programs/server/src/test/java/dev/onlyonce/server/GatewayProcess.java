package dev.onlyonce.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A gateway in a process of its own, to be killed. */
final class GatewayProcess implements AutoCloseable {
    private static final Pattern LISTENING = Pattern.compile("listening on 127\\.0\\.0\\.1:(\\d+)");
    private static final Pattern OPERATORS = Pattern.compile("operators connect to 127\\.0\\.0\\.1:(\\d+)");

    private static final Pattern OPTIONS = Pattern.compile("ONLYONCE_JAVA_OPTS:-([^}]+)}");

    private final Process process;
    private final int port;
    private final int adminPort;

    private GatewayProcess(Process process, int port, int adminPort) {
        this.process = process;
        this.port = port;
        this.adminPort = adminPort;
    }

    static List<String> java() {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        return new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx192m",
                // As the manifest of the jar has it.
                "--enable-native-access=ALL-UNNAMED",
                // Short lives: compile little, start few threads.
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath,
                "dev.onlyonce.server.Main"));
    }

    /** Starts one with the options that {@code ./onlyonce} gives to Java; returns when it listens. */
    static GatewayProcess asDocumented(Path log, String... arguments) throws IOException {
        String script = Files.readString(ConfigFileTest.root().resolve("onlyonce"));
        Matcher options = OPTIONS.matcher(script);
        if (!options.find()) {
            throw new IllegalStateException("the script gives Java no options");
        }
        List<String> command = java();
        command.removeAll(List.of("-Xmx192m", "-XX:+UseSerialGC"));
        command.addAll(1, List.of(options.group(1).split(" ")));
        return start(command, log, arguments);
    }

    /** Starts one and returns when it listens. */
    static GatewayProcess start(Path log, String... arguments) throws IOException {
        return start(java(), log, arguments);
    }

    /** The same; it trusts this certificate. */
    static GatewayProcess trusting(SelfSigned certificate, Path log, String... arguments) throws IOException {
        List<String> command = java();
        command.addAll(
                1,
                List.of(
                        "-Djavax.net.ssl.trustStore=" + certificate.store(),
                        "-Djavax.net.ssl.trustStorePassword=" + SelfSigned.PASSWORD));
        return start(command, log, arguments);
    }

    private static GatewayProcess start(List<String> command, Path log, String... arguments) throws IOException {
        command.add("gateway");
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
        BufferedReader out = process.inputReader();
        return new GatewayProcess(process, await(LISTENING, out, log), await(OPERATORS, out, log));
    }

    private static int await(Pattern port, BufferedReader out, Path log) throws IOException {
        for (String line = out.readLine(); line != null; line = out.readLine()) {
            Matcher said = port.matcher(line);
            if (said.find()) {
                return Integer.parseInt(said.group(1));
            }
        }
        throw new IOException("the gateway did not start: " + Files.readString(log));
    }

    URI url(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    URI admin(String path) {
        return URI.create("http://127.0.0.1:" + adminPort + path);
    }

    int port() {
        return port;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** SIGHUP. */
    void hangUp() throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-HUP", Long.toString(process.pid())).start().waitFor();
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** SIGTERM; returns the exit code. */
    int terminate() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("it does not stop");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
