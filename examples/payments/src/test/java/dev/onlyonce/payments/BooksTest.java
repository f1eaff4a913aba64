package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.payments.storm.BooksCheck;
import dev.onlyonce.payments.storm.BooksVerdict;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

@DisplayName("The books without a broker")
class BooksTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir
    private Path folder;

    @Test
    @DisplayName(
            "N3 N5 have two lines for each payment and refund that succeeded, none for one that did not, and a tenant's own")
    void doubleEntries() throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"),
                        "payments.wait-max=60s",
                        "payments.provider.url=" + provider.url())) {
            String id = pay(server, "a", 1999, 201);
            pay(server, "b", 501, 201);
            pay(server, "a", 1999, 201);
            PaymentsServer.Reply refund = server.send(
                    "POST", "/payments/" + id + "/refunds", "{\"amount\": 999}", "Idempotency-Key", "refund-a");
            assertThat(refund.status()).as(refund.body()).isEqualTo(201);
            server.send("POST", "/payments/" + id + "/refunds", "{\"amount\": 999}", "Idempotency-Key", "refund-a");
            PaymentsServer.Reply tooMuch = server.send(
                    "POST", "/payments/" + id + "/refunds", "{\"amount\": 1001}", "Idempotency-Key", "refund-b");
            assertThat(tooMuch.status()).isEqualTo(422);

            BooksVerdict verdict = new BooksCheck(server.url(), provider.url()).await(PATIENCE);
            assertThat(verdict.allWell()).as("%s", verdict).isTrue();
            assertThat(verdict.events()).isEqualTo(3);
            JsonNode books = server.send("GET", "/books", "").json();
            assertThat(books.get("balanced").asBoolean()).isTrue();
            assertThat(books.get("accounts").toString()).isEqualTo("""
                    [{"account":"merchant","currency":"EUR","debit":999,"credit":2500,"balance":-1501},\
                    {"account":"provider","currency":"EUR","debit":2500,"credit":999,"balance":1501}]""");
            JsonNode others = server.send("GET", "/books", "", "Authorization", "Bearer test_bob")
                    .json();
            assertThat(others.get("events").asLong()).isZero();
        }
    }

    private static String pay(PaymentsServer server, String key, long amount, int status) throws Exception {
        PaymentsServer.Reply reply = server.send(
                "POST", "/payments", "{\"amount\":" + amount + ",\"currency\":\"EUR\"}", "Idempotency-Key", key);
        assertThat(reply.status()).as(reply.body()).isEqualTo(status);
        return reply.json().get("id").asString();
    }

    @Test
    @DisplayName(
            "N3 are complete although a client uses payments' ids as keys of its own, before and after they succeed")
    void paymentIdAsKey() throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                HoldingProvider before = new HoldingProvider(provider.url());
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"),
                        "payments.wait-max=100ms",
                        "payments.provider.url=" + before.url())) {
            String held = order(server, "a", HoldingProvider.HELD_AFTER);
            String second = order(server, held, 501);
            before.release();
            awaitSucceeded(server, held);
            awaitSucceeded(server, second);
            PaymentsServer.Reply refund = server.send(
                    "POST", "/payments/" + second + "/refunds", "{\"amount\": 501}", "Idempotency-Key", second);
            assertThat(refund.status()).as(refund.body()).isEqualTo(201);

            BooksVerdict verdict = new BooksCheck(server.url(), provider.url()).await(PATIENCE);
            assertThat(verdict.allWell()).as("%s", verdict).isTrue();
            assertThat(verdict.events()).isEqualTo(3);
        }
    }

    /** Returns the id of the payment, which may not have succeeded yet. */
    private static String order(PaymentsServer server, String key, long amount) throws Exception {
        PaymentsServer.Reply reply = server.send(
                "POST", "/payments", "{\"amount\":" + amount + ",\"currency\":\"EUR\"}", "Idempotency-Key", key);
        assertThat(reply.status()).as(reply.body()).isIn(201, 202);
        return reply.headers().firstValue("Location").orElseThrow().substring("/payments/".length());
    }

    private static void awaitSucceeded(PaymentsServer server, String id) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        String status = "pending";
        while (!status.equals("succeeded") && System.nanoTime() - end < 0) {
            status = server.send("GET", "/payments/" + id, "")
                    .json()
                    .get("status")
                    .asString();
        }
        assertThat(status).isEqualTo("succeeded");
    }

    @Test
    @DisplayName("are kept by an application that has no class of Kafka")
    void withoutKafka() throws Exception {
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        String without = Arrays.stream(classPath.split(File.pathSeparator))
                .filter(entry -> !entry.contains("kafka-clients"))
                .collect(Collectors.joining(File.pathSeparator));
        assertThat(without).isNotEqualTo(classPath);
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                Instance instance = Instance.launch(
                        without,
                        DemoCommand.freePort(),
                        folder,
                        List.of(
                                "payments.db=jdbc:sqlite:" + folder.resolve("payments.db"),
                                "payments.demo=true",
                                "payments.webhook-secret=whsec_books",
                                "payments.wait-max=60s",
                                "payments.provider.url=" + provider.url()))) {
            instance.awaitHealthy();
            PaymentsServer.Reply paid = new Client(instance.url())
                    .send("POST", "/payments", "{\"amount\":700,\"currency\":\"EUR\"}", "Idempotency-Key", "key");
            assertThat(paid.status()).as(paid.body()).isEqualTo(201);
            BooksVerdict verdict = new BooksCheck(instance.url(), provider.url()).await(PATIENCE);
            assertThat(verdict.allWell()).as("%s", verdict).isTrue();
            assertThat(verdict.events()).isEqualTo(1);
        }
    }
}
