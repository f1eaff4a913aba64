package dev.onlyonce.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** What a gateway takes with 10,000 idle connections and 1,000 protected requests that wait for the service. */
final class GatewayMemory {
    private static final int IDLE = 10_000;
    private static final int IN_FLIGHT = 1000;
    private static final int MIB_MAX = 512;
    private static final long PAUSE_NANOS = 20_000_000;
    private static final int TRIES = 3000;

    private final Options.Gateway options;
    private final Report report;

    GatewayMemory(Options.Gateway options, Report report) {
        this.options = options;
        this.report = report;
    }

    void run() throws Exception {
        report.title("Memory of a gateway with " + IDLE + " idle connections and " + IN_FLIGHT + " requests in flight");
        List<SocketChannel> clients = new ArrayList<>();
        List<Socket> held = new ArrayList<>();
        try (TemporaryFolder folder = TemporaryFolder.create("onlyonce-gateway");
                ServerSocket service = new ServerSocket(0, IN_FLIGHT, InetAddress.getLoopbackAddress());
                GatewayProcess gateway = GatewayProcess.start(
                        folder.path(), """
                        upstreams: [{url: 'http://127.0.0.1:%d', connections-max: %d, response-timeout: 10m}]
                        """.formatted(service.getLocalPort(), 2 * IN_FLIGHT), options)) {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port());
            for (int i = 0; i < IN_FLIGHT; i++) {
                clients.add(SocketChannel.open(address));
                clients.get(i).write(request(i));
            }
            // Takes connections and never answers.
            for (int i = 0; i < IN_FLIGHT; i++) {
                held.add(service.accept());
            }
            for (int i = 0; i < IDLE; i++) {
                clients.add(SocketChannel.open(address));
            }
            await(gateway, "gateway_exchanges", IN_FLIGHT);
            await(gateway, "gateway_connections", IDLE + IN_FLIGHT);
            long now = status(gateway.pid(), "VmRSS:");
            long most = status(gateway.pid(), "VmHWM:");
            report.header(" options of the JVM", "resident MiB", "at most", "wanted");
            report.line("| `%s` | **%d** | %d | %d |", gateway.javaOptions(), now, most, MIB_MAX);
            // It would wait for the service, which never answers.
            gateway.kill();
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
            for (Socket socket : held) {
                socket.close();
            }
        }
    }

    private static ByteBuffer request(int number) {
        String body = "{\"amount\":100,\"note\":\"" + "x".repeat(1000) + "\"}";
        String text = "POST /payments HTTP/1.1\r\nHost: a\r\nIdempotency-Key: memory-" + number
                + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void await(GatewayProcess gateway, String metric, int value) throws Exception {
        for (int i = 0; gateway.metric(metric) < value; i++) {
            if (i == TRIES) {
                throw new IllegalStateException(metric + " is only " + gateway.metric(metric));
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static long status(long pid, String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
            if (line.startsWith(name)) {
                return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
            }
        }
        throw new IOException("there is no " + name + " of process " + pid);
    }
}
