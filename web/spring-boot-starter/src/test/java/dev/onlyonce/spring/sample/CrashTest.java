package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.PostgresServer;
import java.io.BufferedReader;
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
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;

@DisplayName("An application that is killed while handlers run")
class CrashTest {
    private static final String PORT = "port ";
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final HttpClient client = HttpClient.newHttpClient();

    @TempDir
    Path folder;

    /** The application in a process of its own. */
    public static final class Main {
        private Main() {}

        public static void main(String[] args) {
            String port = SpringApplication.run(SampleApp.class, args)
                    .getEnvironment()
                    .getRequiredProperty("local.server.port");
            System.out.println(PORT + port);
        }
    }

    private record Node(Process process, BufferedReader out, int port) implements AutoCloseable {
        static Node start(String jdbcUrl, boolean stuck) throws IOException {
            Process process = new ProcessBuilder(List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx256m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            Main.class.getName(),
                            "--server.port=0",
                            "--spring.main.banner-mode=off",
                            "--logging.level.root=WARN",
                            "--spring.datasource.url=" + jdbcUrl,
                            "--onlyonce.lease=1s",
                            "--sample.stuck=" + stuck))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            BufferedReader out = process.inputReader();
            String port = await(out, PORT);
            return new Node(process, out, Integer.parseInt(port.substring(PORT.length())));
        }

        private static String await(BufferedReader out, String prefix) throws IOException {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                if (line.startsWith(prefix)) {
                    return line;
                }
            }
            throw new IOException("the process has ended");
        }

        /** SIGKILL. */
        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    private CompletableFuture<HttpResponse<String>> begin(Node node, String way) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + node.port + "/stuck-" + way))
                .timeout(PATIENCE)
                .header("X-Tenant", "acme")
                .header("Idempotency-Key", "key-" + way)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"id\":\"" + way + "\"}"))
                .build();
        return client.sendAsync(request, BodyHandlers.ofString());
    }

    /** Retries as clients do, until an answer is as expected; all that come before ask to come back. */
    private HttpResponse<String> retry(Node node, String way, Predicate<HttpResponse<String>> expected) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        HttpResponse<String> answer = begin(node, way).join();
        while (!expected.test(answer) && System.nanoTime() - until < 0) {
            assertThat(answer.headers().firstValue("Retry-After"))
                    .as(answer.body())
                    .isPresent();
            answer = begin(node, way).join();
        }
        return answer;
    }

    private String rows(Node node, String id) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + node.port + "/rows/" + id))
                .build();
        return client.sendAsync(request, BodyHandlers.ofString()).join().body();
    }

    @Test
    @DisplayName(
            "D1 leaves unknown what ran leased, and undone what ran in one transaction: nothing happens twice, on PostgreSQL")
    void postgres() throws Exception {
        prove(PostgresServer.shared().createDatabase());
    }

    @Test
    @Tag("thorough")
    @DisplayName(
            "D1 leaves unknown what ran leased, and undone what ran in one transaction: nothing happens twice, on SQLite")
    void sqlite() throws Exception {
        prove("jdbc:sqlite:" + folder.resolve("entries.db")
                + "?journal_mode=WAL&synchronous=FULL&busy_timeout=5000&transaction_mode=IMMEDIATE");
    }

    private void prove(String url) throws Exception {
        List<CompletableFuture<HttpResponse<String>>> lost = new ArrayList<>();
        try (Node first = Node.start(url, true)) {
            for (String way : List.of("leased", "transactional")) {
                lost.add(begin(first, way));
                Node.await(first.out, SampleApp.IN_FLIGHT);
            }
        }
        assertThat(lost).allSatisfy(request -> assertThat(request).failsWithin(PATIENCE));
        try (Node second = Node.start(url, false)) {
            HttpResponse<String> transactional = retry(second, "transactional", a -> a.statusCode() == 201);
            assertThat(transactional.body()).isEqualTo("done");
            assertThat(isReplay(retry(second, "transactional", RunningSample::isReplay)))
                    .isTrue();
            assertThat(rows(second, "transactional")).isEqualTo("1");

            HttpResponse<String> leased = retry(second, "leased", a -> a.body().contains("outcome_unknown"));
            assertThat(leased.statusCode()).isEqualTo(409);
            assertThat(rows(second, "leased")).isEqualTo("1");
        }
    }
}
