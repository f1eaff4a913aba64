package dev.onlyonce.testservers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Redis for tests, from the program in a Maven artifact. It writes each change to disk before it answers, unless its settings say
 * otherwise, so that an acknowledged change survives {@link #kill()} and {@link #restart()}. It cannot outlive this JVM. Any number of
 * threads.
 */
public final class RedisServer implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(10);
    private static final Duration HANGS_AFTER = Duration.ofMillis(100);
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final int port;
    private final Path home;
    private final ServerProcess process;

    private RedisServer(int port, Path home, List<String> command) {
        this.port = port;
        this.home = home;
        this.process = new ServerProcess("Redis", command, home.resolve("server.log"), "KILL", home);
    }

    /**
     * Starts a server of the caller's own.
     *
     * @param settings as in redis.conf, e.g. {@code "appendonly no"}; they win over the defaults for tests
     */
    public static RedisServer start(String... settings) {
        Path home = Folders.quick("onlyonce-redis");
        int port = ServerUrl.freePort();
        List<String> command = new ArrayList<>(List.of(Binaries.redis().toString()));
        List<String> all = new ArrayList<>(List.of(
                "port " + port,
                "bind 127.0.0.1",
                "dir " + home,
                "save ",
                "appendonly yes",
                "appendfsync always",
                "repl-diskless-sync-delay 0"));
        all.addAll(List.of(settings));
        for (String setting : all) {
            String[] parts = setting.split(" ", 2);
            command.add("--" + parts[0]);
            command.add(parts[1]);
        }
        return launch(new RedisServer(port, home, command));
    }

    /** Starts a Sentinel; it rewrites its settings, so they are in a file. */
    static RedisServer startSentinel(String... settings) {
        Path home = Folders.temporary("onlyonce-sentinel");
        int port = ServerUrl.freePort();
        List<String> lines = new ArrayList<>(List.of("port " + port, "bind 127.0.0.1", "dir " + home));
        lines.addAll(List.of(settings));
        try {
            Path file = Files.write(home.resolve("sentinel.conf"), lines);
            return launch(
                    new RedisServer(port, home, List.of(Binaries.redis().toString(), file.toString(), "--sentinel")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static RedisServer launch(RedisServer server) {
        try {
            server.process.start(server::answers, Duration.ZERO);
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close));
        return server;
    }

    public int port() {
        return port;
    }

    public String url() {
        return "redis://127.0.0.1:" + port;
    }

    private boolean answers() {
        try {
            String answer = command("PING");
            return answer.equals("+PONG") || answer.startsWith("-NOAUTH");
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /** Sends a command without spaces in its parts, on a connection of its own, and returns its answer: a line, or a text. */
    public String command(String... parts) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) ANSWER_MAX.toMillis());
            socket.getOutputStream().write((String.join(" ", parts) + "\r\n").getBytes(StandardCharsets.UTF_8));
            BufferedReader answer =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            String line = answer.readLine();
            if (line == null) {
                throw new IOException("The server hung up");
            }
            if (!line.startsWith("$") || line.startsWith("$-")) {
                return line;
            }
            char[] text = new char[Integer.parseInt(line.substring(1))];
            for (int read = 0; read < text.length; ) {
                int more = answer.read(text, read, text.length - read);
                if (more < 0) {
                    throw new IOException("The server hung up");
                }
                read += more;
            }
            return new String(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Repeats a command until its answer contains the text. A lost answer counts as none: Sentinel ends the clients of a new master. */
    public void await(String text, String... parts) {
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        String answer = commandOrFailure(parts);
        while (!answer.contains(text)) {
            if (System.nanoTime() - giveUp > 0) {
                throw new IllegalStateException(
                        "No " + text + " in the answer to " + String.join(" ", parts) + ": " + answer);
            }
            LockSupport.parkNanos(PAUSE.toNanos());
            answer = commandOrFailure(parts);
        }
    }

    private String commandOrFailure(String... parts) {
        try {
            return command(parts);
        } catch (UncheckedIOException e) {
            return e.toString();
        }
    }

    /** Ends the server with SIGKILL, as a crash would; the data stay. Does nothing when it is down. */
    public void kill() {
        process.signal("KILL");
    }

    /** Stops the server with SIGSTOP: it hangs, and its connections stay open. Returns when it does. */
    public void freeze() {
        process.pass("STOP");
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        while (answersSoon()) {
            if (System.nanoTime() - giveUp > 0) {
                throw new IllegalStateException("The server goes on after SIGSTOP");
            }
        }
    }

    private boolean answersSoon() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) HANGS_AFTER.toMillis());
            socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.UTF_8));
            return socket.getInputStream().read() >= 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets a server go on that was frozen. */
    public void thaw() {
        process.pass("CONT");
    }

    /** Starts a server that is down again, on the same port and data. Returns when it answers. */
    public void restart() {
        process.start(this::answers, PATIENCE);
    }

    /** Ends the server for good and deletes its data. */
    @Override
    public void close() {
        process.signal("KILL");
        Folders.delete(home);
    }
}
