package dev.onlyonce.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.onlyonce.testservers.ScriptedNetwork;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** With {@code -Dclient.kills=200} it kills the client 200 times and takes some minutes. */
@DisplayName("A client in a process of its own")
@Isolated
class ClientKillTest {
    private static final int KILLS =
            Integer.getInteger("client.kills", Boolean.getBoolean("onlyonce.thorough") ? 30 : 8);
    private static final int ORDERS = KILLS * 40;
    private static final long SEED =
            Long.getLong("client.seed", ThreadLocalRandom.current().nextLong(1_000_000));

    @TempDir
    private Path folder;

    /** How often each order was paid, whatever the key. */
    private final Map<String, Integer> effects = new ConcurrentHashMap<>();

    private volatile boolean over;

    private void pay(HttpExchange exchange) throws IOException {
        try (exchange) {
            String order = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            effects.merge(order, 1, Integer::sum);
            byte[] answer = "{\"paid\":true}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(201, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    @Test
    @Timeout(1800)
    @DisplayName("X1 X2 X4 killed again and again on a bad network: every order is paid once, none is lost")
    void killed() throws Exception {
        HttpServer service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        ExecutorService threads = Executors.newCachedThreadPool();
        service.setExecutor(threads);
        service.createContext("/", this::pay);
        service.start();
        try (GatewayProcess gateway = gateway(service.getAddress().getPort());
                ScriptedNetwork network = ScriptedNetwork.to("jdbc:http://127.0.0.1:" + gateway.port() + "/pay")) {
            String url = network.through("jdbc:http://127.0.0.1:" + gateway.port() + "/pay")
                    .substring("jdbc:".length());
            Random random = new Random(SEED);
            threads.execute(() -> trouble(network, new Random(SEED)));
            int open = 0;
            for (int kill = 0; kill < KILLS; kill++) {
                open += killOne(url, random);
            }
            over = true;
            network.heal();
            List<String> lines = new ArrayList<>();
            Process last = sender(url);
            last.inputReader()
                    .lines()
                    .filter(line -> !line.startsWith("attempted"))
                    .forEach(lines::add);
            assertThat(last.waitFor()).isZero();

            assertThat(lines).as("seed %d", SEED).last().isEqualTo("all done, open 0");
            assertThat(effects)
                    .as("seed %d", SEED)
                    .hasSize(ORDERS)
                    .allSatisfy((order, count) ->
                            assertThat(count).as("seed %d, %s", SEED, order).isEqualTo(1));
            assertThat(open).as("calls that a kill left open").isPositive();
        } finally {
            over = true;
            service.stop(0);
            threads.shutdownNow();
        }
    }

    private GatewayProcess gateway(int upstream) throws IOException {
        return GatewayProcess.start(
                folder.resolve("log"),
                "--upstream",
                "http://127.0.0.1:" + upstream,
                "--host",
                "127.0.0.1",
                "--port",
                "0",
                "--admin-port",
                "0",
                "--data",
                folder.resolve("data").toString());
    }

    /** Starts a client, kills it at a random moment after it has begun, and returns how many calls it had found open. */
    private int killOne(String url, Random random) throws IOException, InterruptedException {
        Process process = sender(url);
        BufferedReader out = process.inputReader();
        String first = out.readLine();
        assertThat(first).as("seed %d", SEED).startsWith("open ");
        if (random.nextBoolean()) {
            // Not always in its first moments, however slow the machine is.
            String progress = out.readLine();
            assertThat(progress).as("seed %d", SEED).isNotNull();
        }
        LockSupport.parkNanos(Duration.ofMillis(random.nextInt(250)).toNanos());
        process.destroyForcibly().waitFor();
        return Integer.parseInt(first.substring("open ".length()));
    }

    private Process sender(String url) throws IOException {
        List<String> command = GatewayProcess.java();
        command.set(command.size() - 1, KilledSender.class.getName());
        command.addAll(List.of(folder.resolve("journal").toString(), url, Integer.toString(ORDERS)));
        return new ProcessBuilder(command)
                .redirectError(folder.resolve("sender.log").toFile())
                .start();
    }

    private void trouble(ScriptedNetwork network, Random random) {
        while (!over) {
            switch (random.nextInt(5)) {
                case 0 -> network.cutBeforeAnswer(1 + random.nextInt(5));
                case 1 -> network.cutBeforeRequest(1 + random.nextInt(5));
                case 2 -> network.delay(Duration.ofMillis(random.nextInt(10)));
                case 3 -> network.cut();
                default -> network.heal();
            }
            LockSupport.parkNanos(Duration.ofMillis(random.nextInt(40)).toNanos());
        }
    }
}
