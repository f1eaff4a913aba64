package dev.onlyonce.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.testservers.PostgresServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An application as there are many: H2, JPA, Spring Security, springdoc, a {@code @ControllerAdvice}, CORS and a context path. It knew
 * nothing of Onlyonce; then somebody adds the dependency and annotates a handler.
 */
@DisplayName("An ordinary application that adds the starter")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class ShopTest {
    @TempDir
    static Path folder;

    private static Path jar;

    /** Where it keeps its orders, and so the entries. */
    enum Database {
        H2,
        SQLITE,
        POSTGRESQL;

        String url(Path folder) {
            return switch (this) {
                case SQLITE ->
                    "jdbc:sqlite:" + folder.resolve(UUID.randomUUID() + ".db")
                            + "?journal_mode=WAL&synchronous=FULL&busy_timeout=10000";
                case H2 -> "jdbc:h2:file:" + folder.resolve(UUID.randomUUID().toString());
                case POSTGRESQL -> PostgresServer.shared().createDatabase();
            };
        }
    }

    /** The whole change. Its own tests, which nobody changes, run in this build too. */
    @BeforeAll
    static void adopt() throws Exception {
        Path project = folder.resolve("shop");
        copy(Path.of("src/test/projects/shop"), project);
        change(project.resolve("pom.xml"), "  <dependencies>\n", """
                  <dependencies>
                    <dependency>
                      <groupId>dev.onlyonce</groupId>
                      <artifactId>onlyonce-spring-boot-starter</artifactId>
                      <version>0.1.0-SNAPSHOT</version>
                    </dependency>
                """);
        change(
                project.resolve("src/main/java/shop/OrderController.java"),
                "    @PostMapping(",
                "    @dev.onlyonce.spring.Idempotent\n    @PostMapping(");
        // Old clients, and the application's tests, send no key yet.
        Files.writeString(
                project.resolve("src/main/resources/application.properties"),
                Files.readString(project.resolve("src/main/resources/application.properties"))
                        + "onlyonce.operations[POST\\ /orders].key-required=false\n");
        String printed = new Installed().maven(project, "package");
        assertThat(printed).contains("Tests run: 6, Failures: 0, Errors: 0, Skipped: 0");
        jar = project.resolve("target/shop.jar");
    }

    private static void change(Path file, String from, String to) throws IOException {
        String text = Files.readString(file);
        assertThat(text).contains(from);
        Files.writeString(file, text.replace(from, to));
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(file, target);
                }
            }
        }
    }

    private static Application start(String url, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--spring.datasource.url=" + url));
        arguments.addAll(List.of(more));
        return new Application(jar, folder, arguments.toArray(String[]::new));
    }

    private static String order(String number, int quantity) {
        return "{\"number\":\"" + number + "\",\"quantity\":" + quantity + "}";
    }

    private static String count(Application shop, String number) {
        return shop.get("alice", "/shop/orders/count?number=" + number).body();
    }

    private static boolean isReplay(HttpResponse<?> response) {
        return response.headers().firstValue("Idempotent-Replayed").isPresent();
    }

    /** H2 is what its own tests use. */
    static Database[] databases() {
        return Boolean.getBoolean("onlyonce.thorough") ? Database.values() : new Database[] {Database.POSTGRESQL};
    }

    @ParameterizedTest
    @MethodSource("databases")
    @DisplayName(
            "R1 F1 C1 D1 K7 replays, refuses another request, runs once in a race, records a violated constraint, survives kill -9")
    void works(Database database) throws Exception {
        String url = database.url(folder);
        try (Application shop = start(url, "--shop.stuck=k-1")) {
            replays(shop);
            races(shop);
            violates(shop);
            describes(shop);
            CompletableFuture<HttpResponse<String>> lost =
                    shop.begin("alice", "/shop/orders", "killed", order("k-1", 1));
            shop.awaitPrinted("written k-1");
            shop.kill();
            assertThat(lost).failsWithin(java.time.Duration.ofMinutes(1));
        }
        try (Application shop = start(url)) {
            assertThat(count(shop, "k-1"))
                    .as("the write was undone with the claim")
                    .isEqualTo("0");
            HttpResponse<String> retry = shop.post("alice", "/shop/orders", "killed", order("k-1", 1));
            assertThat(retry.statusCode()).as(retry.body()).isEqualTo(201);
            assertThat(isReplay(shop.post("alice", "/shop/orders", "killed", order("k-1", 1))))
                    .isTrue();
            assertThat(isReplay(shop.post("alice", "/shop/orders", "first", order("a-1", 2))))
                    .as("keys survive a restart")
                    .isTrue();
            assertThat(count(shop, "k-1")).isEqualTo("1");
        }
    }

    private static void replays(Application shop) {
        HttpResponse<String> first = shop.post("alice", "/shop/orders", "first", order("a-1", 2));
        assertThat(first.statusCode()).as(first.body()).isEqualTo(201);
        HttpResponse<String> again = shop.post("alice", "/shop/orders", "first", order("a-1", 2));
        assertThat(again.statusCode()).isEqualTo(201);
        assertThat(again.body()).isEqualTo(first.body());
        assertThat(isReplay(again)).isTrue();
        assertThat(again.headers().firstValue("Location"))
                .isEqualTo(first.headers().firstValue("Location"));
        assertThat(count(shop, "a-1")).isEqualTo("1");

        assertThat(shop.post("alice", "/shop/orders", "first", order("a-2", 2)).statusCode())
                .isEqualTo(422);
        assertThat(count(shop, "a-2")).isEqualTo("0");
        assertThat(shop.post("bob", "/shop/orders", "first", order("b-1", 2)).statusCode())
                .as("a key belongs to its user")
                .isEqualTo(201);
        assertThat(shop.post(null, "/shop/orders", "first", order("a-1", 2)).statusCode())
                .as("the application's own refusal")
                .isEqualTo(401);
        assertThat(shop.post("alice", "/shop/orders", null, order("a-3", 2)).statusCode())
                .as("an old client")
                .isEqualTo(201);
    }

    private static void races(Application shop) {
        List<CompletableFuture<HttpResponse<String>>> racers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            racers.add(shop.begin("alice", "/shop/orders", "race", order("r-1", 1)));
        }
        assertThat(racers.stream().map(CompletableFuture::join))
                .allMatch(answer -> answer.statusCode() == 201 || answer.statusCode() == 409)
                .filteredOn(answer -> answer.statusCode() == 201 && !isReplay(answer))
                .hasSize(1);
        assertThat(count(shop, "r-1")).isEqualTo("1");
    }

    private static void violates(Application shop) {
        HttpResponse<String> refused = shop.post("alice", "/shop/orders", "twice", order("a-1", 5));
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(409);
        assertThat(refused.body()).contains("there is an order with this number");
        HttpResponse<String> again = shop.post("alice", "/shop/orders", "twice", order("a-1", 5));
        assertThat(again.body()).isEqualTo(refused.body());
        assertThat(isReplay(again)).isTrue();
        HttpResponse<String> invalid = shop.post("alice", "/shop/orders", "none", order("n-1", 0));
        assertThat(invalid.statusCode()).isEqualTo(400);
        assertThat(isReplay(shop.post("alice", "/shop/orders", "none", order("n-1", 0))))
                .isTrue();
    }

    private static void describes(Application shop) {
        assertThat(shop.get(null, "/shop/v3/api-docs").body())
                .contains("\"Idempotency-Key\"", "\"409\"", "\"422\"", "application/problem+json");
    }
}
