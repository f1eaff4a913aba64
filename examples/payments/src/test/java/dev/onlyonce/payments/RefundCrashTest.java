package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.PaymentsServer.Reply;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One refund stands still at each boundary of its steps; then the process is killed, once for all of them. They are sent again,
 * stand still at each boundary of what is left, and the process is killed again. In the end all of them are finished.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
@Order(1)
class RefundCrashTest {
    /** More than there are: those of the highest numbers come to their end. */
    private static final int BOUNDARIES = 10;

    private static final int ROUNDS = 2;
    /** Before any, and between two of them. */
    private static final int STEPS = 3;

    private static final int AMOUNT = 100;

    @TempDir
    private Path folder;

    @Test
    @Tag("thorough")
    @DisplayName("D1, D8 a refund that dies at any boundary of its steps goes on after it: on SQLite")
    void sqlite() throws Exception {
        prove("jdbc:sqlite:" + folder.resolve("payments.db"));
    }

    @Test
    @DisplayName("D1, D8 a refund that dies at any boundary of its steps goes on after it: on PostgreSQL")
    void postgres() throws Exception {
        prove(PostgresServer.shared().createDatabase());
    }

    private void prove(String jdbcUrl) throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                HoldingProvider holding = new HoldingProvider(provider.url());
                Instance instance = Instance.launch(
                        BoundaryApp.class,
                        DemoCommand.freePort(),
                        folder,
                        List.of(
                                "payments.db=" + jdbcUrl,
                                "payments.demo=true",
                                "payments.webhook-secret=whsec_crashed",
                                "payments.lease=3s",
                                "payments.provider.url=http://127.0.0.1:" + holding.port(),
                                "payments.provider.timeout=60s"))) {
            instance.awaitHealthy();
            Client client = new Client(instance.url());
            String path = "/payments/" + paid(client) + "/refunds";
            Map<String, String> answered = new TreeMap<>();
            for (int round = 0; round < ROUNDS; round++) {
                holding.hold();
                answered.putAll(sendAndKill(client, path, instance, holding));
                instance.launch();
                instance.awaitHealthy();
            }
            assertThat(standing(instance))
                    .as("refunds that stood still, in all rounds")
                    .isGreaterThanOrEqualTo(ROUNDS * STEPS);
            Map<String, String> all = finish(client, path, instance);

            assertThat(all).as("answers from before the end").containsAllEntriesOf(answered);
            assertThat(answered).as("refunds that stood still nowhere").isNotEmpty();
            Books books = new Books(jdbcUrl, provider.url());
            List<Movement> refunds = books.movements("refund");
            assertThat(refunds).extracting(Movement::idempotencyKey).doesNotHaveDuplicates();
            assertThat(refunds).hasSameSizeAs(all.keySet());
            long sum = refunds.stream().mapToLong(Movement::amount).sum();
            assertThat(books.count("SELECT refunded FROM payment")).isEqualTo(sum);
            assertThat(books.count("SELECT count(*) FROM refund WHERE status = 'succeeded'"))
                    .isEqualTo(all.size());
            assertThat(books.count("SELECT count(*) FROM refund")).isEqualTo(all.size());
            books.awaitDry(instance);
            books.checkPosted();
        }
    }

    private static String paid(Client client) throws Exception {
        Reply paid = client.send(
                "POST", "/payments", "{\"amount\": 1000000, \"currency\": \"EUR\"}", "Idempotency-Key", "payment");
        while (paid.status() == 202) {
            paid = client.send(
                    "POST", "/payments", "{\"amount\": 1000000, \"currency\": \"EUR\"}", "Idempotency-Key", "payment");
        }
        return paid.json().get("id").asString();
    }

    /** Refunds by their keys, and their amounts. */
    private static Map<String, Long> refunds() {
        Map<String, Long> refunds = new TreeMap<>();
        for (int i = 1; i <= BOUNDARIES; i++) {
            refunds.put("at-" + i, (long) AMOUNT + i);
        }
        refunds.put("before-the-provider", HoldingProvider.HELD_BEFORE);
        refunds.put("after-the-provider", HoldingProvider.HELD_AFTER);
        return refunds;
    }

    private static CompletableFuture<Reply> send(Client client, String path, String key, String... headers) {
        String[] all = new String[headers.length + 2];
        System.arraycopy(headers, 0, all, 2, headers.length);
        all[0] = "Idempotency-Key";
        all[1] = key;
        return client.sendAsync("POST", path, "{\"amount\":" + refunds().get(key) + "}", all);
    }

    /** Returns what was answered before the process was killed. */
    private static Map<String, String> sendAndKill(
            Client client, String path, Instance instance, HoldingProvider holding) throws Exception {
        int before = standing(instance);
        Map<String, CompletableFuture<Reply>> sent = new HashMap<>();
        for (String key : refunds().keySet()) {
            sent.put(key, sendToBoundary(client, path, key));
        }
        while (standing(instance) - before + holding.held() + answered(sent).size() < sent.size()) {
            instance.letRun(Duration.ofMillis(50));
            // The process before holds it until the lease ends.
            sent.replaceAll((key, reply) -> isEarly(reply) ? sendToBoundary(client, path, key) : reply);
        }
        Map<String, String> answered = answered(sent);
        instance.kill();
        holding.release();
        return answered;
    }

    private static CompletableFuture<Reply> sendToBoundary(Client client, String path, String key) {
        return key.startsWith("at-")
                ? send(client, path, key, BoundaryApp.HEADER, key.substring(3))
                : send(client, path, key);
    }

    private static boolean isEarly(CompletableFuture<Reply> reply) {
        return reply.isDone() && !answered(Map.of("", reply)).containsKey("");
    }

    private static Map<String, String> answered(Map<String, CompletableFuture<Reply>> sent) {
        Map<String, String> answered = new TreeMap<>();
        sent.forEach((key, reply) -> {
            if (reply.isDone() && reply.join().status() == 201) {
                answered.put(key, reply.join().body());
            }
        });
        return answered;
    }

    private static int standing(Instance instance) {
        return instance.said().split(BoundaryApp.STANDS, -1).length - 1;
    }

    /** Sends each until it is answered, and once more. */
    private static Map<String, String> finish(Client client, String path, Instance instance) throws Exception {
        Map<String, String> answers = new TreeMap<>();
        for (String key : refunds().keySet()) {
            Reply reply = send(client, path, key).get();
            while (reply.status() == 409 || reply.status() == 503) {
                instance.letRun(Duration.ofMillis(100));
                reply = send(client, path, key).get();
            }
            assertThat(reply.status()).as(key + " " + reply.body()).isEqualTo(201);
            assertThat(send(client, path, key).get().body()).isEqualTo(reply.body());
            answers.put(key, reply.body());
        }
        return answers;
    }
}
