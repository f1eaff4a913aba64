package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HmacScheme;
import dev.onlyonce.http.WebhookScheme;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.PostgresServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@DisplayName("Webhooks of a Spring application")
@ResourceLock(Resources.SYSTEM_OUT)
class WebhooksTest {
    private static final String SECRET = "whsec_test";
    private static final HmacScheme STRIPE = WebhookScheme.stripe(SECRET);

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    @ExtendWith(OutputCaptureExtension.class)
    abstract static class Contract {
        private final HttpClient client = HttpClient.newHttpClient();
        private final Clock clock = Clock.systemUTC();
        private RunningSample running;
        WebhookApp.Orders orders;

        abstract String jdbcUrl(Path folder);

        @BeforeAll
        void start(@TempDir Path folder) {
            running = new RunningSample(
                    WebhookApp.class, jdbcUrl(folder), "--stripe.webhook-secret=" + SECRET, "--onlyonce.coverage=off");
            orders = running.bean(WebhookApp.Orders.class);
        }

        @AfterAll
        void stop() {
            running.close();
        }

        static String event(String id, String what) {
            return "{\"id\":\"" + id + "\",\"what\":\"" + what + "\"}";
        }

        private CompletableFuture<HttpResponse<String>> begin(String event, Instant signedAt) {
            byte[] body = event.getBytes(StandardCharsets.UTF_8);
            Headers signed = STRIPE.sign("", body, signedAt);
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("http://localhost:" + running.port() + "/webhooks/stripe"))
                    .header("Content-Type", "application/json")
                    .header("Stripe-Signature", signed.first("Stripe-Signature").orElseThrow())
                    .POST(BodyPublishers.ofByteArray(body))
                    .build();
            return client.sendAsync(request, BodyHandlers.ofString());
        }

        HttpResponse<String> send(String event) {
            return begin(event).join();
        }

        CompletableFuture<HttpResponse<String>> begin(String event) {
            return begin(event, clock.instant());
        }

        @Test
        @DisplayName("N6 are applied once, and every delivery gets 204")
        void once() {
            HttpResponse<String> first = send(event("evt_once", "once"));
            HttpResponse<String> second = send(event("evt_once", "once"));
            assertThat(first.statusCode()).as(first.body()).isEqualTo(204);
            assertThat(isReplay(first)).isFalse();
            assertThat(second.statusCode()).isEqualTo(204);
            assertThat(isReplay(second)).isTrue();
            assertThat(orders.paid("%evt_once%")).isEqualTo(1);
        }

        @Test
        @DisplayName("N6 are applied once when sixteen deliveries come at the same time")
        void race() {
            List<CompletableFuture<HttpResponse<String>>> deliveries = IntStream.range(0, 16)
                    .mapToObj(i -> begin(event("evt_race", "race"), clock.instant()))
                    .toList();
            for (CompletableFuture<HttpResponse<String>> delivery : deliveries) {
                // One that waits for longer than it may is asked to come again.
                assertThat(delivery.join().statusCode()).isIn(204, 503);
            }
            assertThat(send(event("evt_race", "race")).statusCode()).isEqualTo(204);
            assertThat(orders.paid("%evt_race%")).isEqualTo(1);
        }

        @Test
        @DisplayName("N6 leave no trace if their effect fails, and the next delivery applies them")
        void fails() {
            for (String what : List.of("fails", "rejected")) {
                String id = "evt_bad_" + what.length();
                assertThat(send(event(id, what)).statusCode()).isEqualTo(what.equals("fails") ? 500 : 400);
                assertThat(orders.paid("%" + id + "%")).isZero();
                HttpResponse<String> applied = send(event(id, "well"));
                assertThat(applied.statusCode()).isEqualTo(204);
                assertThat(isReplay(applied)).isFalse();
                assertThat(orders.paid("%" + id + "%")).isEqualTo(1);
            }
        }

        @ParameterizedTest
        @EnumSource(
                value = LosingCommits.Loss.class,
                names = {"COMMIT", "ANSWER"})
        @DisplayName("N6 whose commit was not acknowledged are asked for again, and applied once")
        void lostCommit(LosingCommits.Loss loss) {
            String event = event("evt_lost_" + loss, "lost");
            running.bean(LosingCommits.class).lose(loss);
            assertThat(send(event).statusCode()).isEqualTo(503);
            HttpResponse<String> again = send(event);
            assertThat(again.statusCode()).isEqualTo(204);
            assertThat(isReplay(again)).isEqualTo(loss == LosingCommits.Loss.ANSWER);
            assertThat(orders.paid("%evt_lost_" + loss + "%")).isEqualTo(1);
        }

        @Test
        @DisplayName("N6 share their transaction with @Transactional beans")
        void nested() {
            assertThat(send(event("evt_nested", "nested")).statusCode()).isEqualTo(204);
            assertThat(send(event("evt_nested", "nested")).statusCode()).isEqualTo(204);
            assertThat(orders.paid("%evt_nested%")).isEqualTo(2);
        }

        @Test
        @DisplayName("N6 are not said to be applied when the database has undone them although the effect returned")
        void swallowed() {
            int status = send(event("evt_swallowed", "swallowed")).statusCode();
            // PostgreSQL undoes the whole transaction, the others only what failed.
            assertThat(orders.paid("%evt_swallowed%")).isEqualTo(status == 204 ? 1 : 0);
            assertThat(status).isIn(204, 500);
        }

        @Test
        @DisplayName("N6 with a known id and other content are refused with 422, logged, and not applied")
        void changed(CapturedOutput output) {
            send(event("evt_changed", "10 EUR"));
            HttpResponse<String> changed = send(event("evt_changed", "1000 EUR"));
            assertThat(changed.statusCode()).isEqualTo(422);
            assertThat(changed.body()).contains("message_changed");
            assertThat(orders.paid("%evt_changed%")).isEqualTo(1);
            assertThat(output.getAll())
                    .contains("A webhook of stripe was refused: its id")
                    .doesNotContain("evt_changed")
                    .doesNotContain(SECRET);
        }

        @Test
        @DisplayName("N6 that are unsigned, or not of now, are refused with 401")
        void forged() {
            HttpResponse<String> unsigned = running.send("POST", "/webhooks/stripe", event("evt_forged", "unsigned"));
            assertThat(unsigned.statusCode()).isEqualTo(401);
            for (Duration off : List.of(Duration.ofMinutes(6), Duration.ofMinutes(-6))) {
                HttpResponse<String> old = begin(
                                event("evt_forged", "old"), clock.instant().plus(off))
                        .join();
                assertThat(old.statusCode()).isEqualTo(401);
                assertThat(old.body()).contains("signature_invalid");
            }
            assertThat(orders.paid("%evt_forged%")).isZero();
        }
    }

    @Nested
    @DisplayName("on PostgreSQL")
    class OnPostgres extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return PostgresServer.shared().createDatabase();
        }

        @Test
        @DisplayName("N6 are answered quickly while another delivery is being applied: 503, and 204 once it is")
        void slow() throws Exception {
            CompletableFuture<HttpResponse<String>> first = begin(event("evt_slow", "slow"));
            try {
                assertThat(orders.entered.await(30, TimeUnit.SECONDS)).isTrue();
                HttpResponse<String> second = begin(event("evt_slow", "slow")).get(20, TimeUnit.SECONDS);
                assertThat(second.statusCode()).isEqualTo(503);
                assertThat(second.headers().firstValue("Retry-After")).hasValue("1");
            } finally {
                orders.release.complete(null);
            }
            assertThat(first.join().statusCode()).isEqualTo(204);
            assertThat(isReplay(send(event("evt_slow", "slow")))).isTrue();
            assertThat(orders.paid("%evt_slow%")).isEqualTo(1);
        }
    }

    @Nested
    @DisplayName("on MariaDB")
    class OnMariaDb extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return MariaDbServer.shared().createDatabase();
        }
    }

    @Nested
    @DisplayName("on SQLite")
    class OnSqlite extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return "jdbc:sqlite:" + folder.resolve("webhooks.db") + "?synchronous=FULL&busy_timeout=20000";
        }
    }
}
