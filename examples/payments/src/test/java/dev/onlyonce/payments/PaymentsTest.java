package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.micrometer.Metric;
import dev.onlyonce.payments.PaymentsServer.Reply;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.provider.Faults;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.payments.storm.ProviderLedger;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Terms;
import dev.onlyonce.testservers.MariaDbServer;
import dev.onlyonce.testservers.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The golden path over HTTP, on every database. */
class PaymentsTest {
    private static final String ORDER = "{\"amount\": 1999, \"currency\": \"EUR\", \"description\": \"two books\"}";

    @TestInstance(TestInstance.Lifecycle.PER_CLASS)
    abstract static class Contract {
        private Provider provider;
        private PaymentsServer server;

        abstract String jdbcUrl(Path folder);

        @BeforeAll
        void start(@TempDir Path folder) {
            provider = Provider.start(ProviderOptions.in(folder));
            server = PaymentsServer.start(
                    jdbcUrl(folder), "payments.provider.url=" + provider.url(), "payments.wait-max=60s");
        }

        @AfterAll
        void stop() {
            server.close();
            provider.close();
        }

        @AfterEach
        void calm() {
            provider.faults(Faults.none());
        }

        private Reply pay(String key, String body, String... headers) throws Exception {
            List<String> all = new ArrayList<>(List.of("Idempotency-Key", key));
            all.addAll(List.of(headers));
            return server.send("POST", "/payments", body, all.toArray(String[]::new));
        }

        private List<Movement> charges(Reply payment) throws Exception {
            return new ProviderLedger(provider.url())
                    .byReference()
                    .getOrDefault(payment.json().get("id").asString(), List.of());
        }

        @Test
        @DisplayName("R1 a retry gets the first answer's bytes, is marked, and charges nothing")
        void retry() throws Exception {
            Reply first = pay("retry", ORDER);
            Reply again = pay("\"retry\"", "{\"currency\":\"EUR\",\"description\":\"two books\",\"amount\":1999.0}");

            assertThat(first.status()).isEqualTo(201);
            assertThat(first.json().get("status").asString()).isEqualTo("succeeded");
            assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
            assertThat(first.headers().firstValue("Idempotency-Key-Expires")).isPresent();
            assertThat(again.status()).isEqualTo(201);
            assertThat(again.body()).isEqualTo(first.body());
            assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
            assertThat(again.headers().firstValue("Location"))
                    .isEqualTo(first.headers().firstValue("Location"));
            assertThat(charges(first)).hasSize(1);
            String location = first.headers().firstValue("Location").orElseThrow();
            assertThat(server.send("GET", location, "").json().get("provider_id"))
                    .isEqualTo(first.json().get("provider_id"));
        }

        @Test
        @DisplayName(
                "The usual body of payment APIs is understood: lower-case currency, and a customer instead of a card")
        void usualBody() throws Exception {
            Reply paid = pay("usual", "{\"amount\": 2000, \"currency\": \"usd\", \"customer\": \"cus_123\"}");

            assertThat(paid.status()).as(paid.body()).isEqualTo(201);
            assertThat(paid.json().get("currency").asString()).isEqualTo("USD");
            assertThat(charges(paid))
                    .singleElement()
                    .satisfies(charge -> assertThat(charge.amount()).isEqualTo(2000));
        }

        @Test
        @DisplayName("C1 of many simultaneous requests with one key one is charged, and all get the same answer")
        void simultaneous() throws Exception {
            ExecutorService threads = Executors.newFixedThreadPool(16);
            try {
                List<Future<Reply>> replies = new ArrayList<>();
                for (int i = 0; i < 16; i++) {
                    replies.add(threads.submit(() -> {
                        Reply reply = pay("simultaneous", ORDER);
                        while (reply.status() == 202 || reply.status() == 409) {
                            reply = pay("simultaneous", ORDER);
                        }
                        return reply;
                    }));
                }
                Set<String> bodies = new HashSet<>();
                for (Future<Reply> reply : replies) {
                    assertThat(reply.get().status()).isEqualTo(201);
                    bodies.add(reply.get().body());
                }
                assertThat(bodies).hasSize(1);
                assertThat(charges(replies.get(0).get())).hasSize(1);
            } finally {
                threads.shutdownNow();
            }
        }

        @Test
        @DisplayName("D7 a declined payment is answered 402, now and ever")
        void declined() throws Exception {
            String order = ORDER.replace("}", ", \"source\": \"tok_declined\"}");
            Reply first = pay("declined", order);
            Reply again = pay("declined", order);

            assertThat(first.status()).isEqualTo(402);
            assertThat(first.json().get("status").asString()).isEqualTo("declined");
            assertThat(again.status()).isEqualTo(402);
            assertThat(again.body()).isEqualTo(first.body());
            assertThat(charges(first)).noneMatch(Movement::succeeded);
        }

        @Test
        @DisplayName("F1 the same key with another amount is refused and charges nothing")
        void mismatch() throws Exception {
            Reply first = pay("mismatch", ORDER);
            Reply other = pay("mismatch", ORDER.replace("1999", "2999"));
            Reply otherEndpoint = server.send(
                    "POST",
                    "/transfers",
                    "{\"from_account\":\"current\",\"to_account\":\"savings\",\"amount\":1}",
                    "Idempotency-Key",
                    "mismatch");

            assertThat(first.status()).isEqualTo(201);
            assertThat(other.status()).isEqualTo(422);
            assertThat(other.json().get("code").asString()).isEqualTo("key_reused");
            assertThat(otherEndpoint.status()).isEqualTo(422);
            assertThat(charges(first)).hasSize(1);
        }

        @Test
        @DisplayName("K4 a payment without a key is refused; invalid ones say what is wrong and leave the key free")
        void refused() throws Exception {
            Reply missing = server.send("POST", "/payments", ORDER);
            assertThat(missing.status()).isEqualTo(400);
            assertThat(missing.json().get("code").asString()).isEqualTo("key_missing");

            Reply invalid = pay("invalid", "{\"amount\": -1, \"currency\": \"euro\"}");
            assertThat(invalid.status()).isEqualTo(400);
            assertThat(invalid.json().get("code").asString()).isEqualTo("request_invalid");
            assertThat(invalid.json().get("errors").findValuesAsString("field")).containsExactly("amount", "currency");
            assertThat(pay("invalid", "{\"amount\": 1").status()).isEqualTo(400);
            for (String order : List.of(
                    "{\"amount\": 1.5, \"currency\": \"EUR\"}",
                    "{\"amount\": \"12\", \"currency\": \"EUR\"}",
                    "{\"amount\": 1e30, \"currency\": \"EUR\"}",
                    "{\"currency\": \"EUR\", \"amount\": true}")) {
                Reply wrong = pay("invalid", order);
                assertThat(wrong.status()).as(order).isEqualTo(400);
                assertThat(wrong.json().get("errors").findValuesAsString("field"))
                        .as(order)
                        .containsExactly("amount");
            }
            Reply zero = pay("invalid", "{\"amount\": 1, \"currency\": \"EUR\", \"description\": \"a\\u0000\"}");
            assertThat(zero.status()).isEqualTo(400);
            assertThat(zero.json().get("errors").findValuesAsString("field")).containsExactly("description");
            Reply text = pay("invalid", ORDER, "Content-Type", "text/plain");
            assertThat(text.status()).isEqualTo(415);
            assertThat(text.json().get("code").asString()).isEqualTo("unsupported_media_type");
            assertThat(pay("invalid", ORDER).status()).isEqualTo(201);
        }

        @Test
        @DisplayName("S1 payments and transfers are counted by what was decided, and their operations are published")
        void counted() throws Exception {
            pay("counted", ORDER, "Authorization", "Bearer test_bob");
            pay("counted", ORDER, "Authorization", "Bearer test_bob");
            pay("counted", ORDER.replace("1999", "1"), "Authorization", "Bearer test_bob");
            String transfer = "{\"from_account\":\"current\",\"to_account\":\"savings\",\"amount\":1}";
            for (int i = 0; i < 2; i++) {
                server.send(
                        "POST", "/transfers", transfer, "Idempotency-Key", "moved", "Authorization", "Bearer test_bob");
            }
            String metrics = server.send("GET", "/metrics", "").body();
            for (String counted : List.of(
                    "reserve_created_total{operation=\"POST /payments\"",
                    "reserve_replay_total{operation=\"POST /payments\"",
                    "reserve_key_misuse_total{operation=\"POST /payments\"",
                    "reserve_created_total{operation=\"POST /transfers\"",
                    "reserve_replay_total{operation=\"POST /transfers\"")) {
                assertThat(metrics).contains("api_idempotency_" + counted + ",tenant=\"bob\"}");
            }
            assertThat(server.send("GET", "/.well-known/idempotency", "")
                            .json()
                            .get("operations")
                            .findValuesAsString("name"))
                    .contains("POST /payments", "POST /payments/{id}/refunds", "POST /transfers");
        }

        @Test
        @DisplayName(
                "S1 S4 every published metric is there, so that dashboard and alerts work, and deliveries are counted")
        void published() throws Exception {
            pay("delivered", ORDER, "Authorization", "Bearer test_bob");
            String metrics = server.send("GET", "/metrics", "").body();
            for (Metric metric : Metric.values()) {
                String suffix = metric.kind() == Metric.Kind.TIMER ? "_bucket" : "";
                assertThat(metrics).containsPattern("(?m)^" + metric.prometheusName() + suffix + "[ {]");
            }
            assertThat(metrics)
                    .containsPattern("api_idempotency_outbox_delivered_total"
                            + "\\{operation=\"POST /payments\",tenant=\"bob\"\\} [1-9]");
        }

        @Test
        @DisplayName("T1 the published retention and tombstone of every operation are those that its entries have")
        void terms() throws Exception {
            String id = pay("terms", ORDER).json().get("id").asString();
            server.send("POST", "/payments/" + id + "/refunds", "{\"amount\":1}", "Idempotency-Key", "terms-refund");
            String transfer = "{\"from_account\":\"current\",\"to_account\":\"savings\",\"amount\":1}";
            server.send("POST", "/transfers", transfer, "Idempotency-Key", "terms-transfer");
            Map<String, Terms> used = new TreeMap<>();
            Onlyonce once = server.context().getBean(Onlyonce.class);
            for (String key : List.of("terms", "terms-refund", "terms-transfer")) {
                Entry entry = once.find(Key.of("alice", "any", key)).orElseThrow();
                used.put(entry.operation(), entry.terms());
            }
            assertThat(used).containsOnlyKeys("POST /payments", "POST /payments/{id}/refunds", "POST /transfers");
            Map<String, Terms> published = new TreeMap<>();
            server.send("GET", "/.well-known/idempotency", "")
                    .json()
                    .get("operations")
                    .forEach(operation -> {
                        String name = operation.get("name").asString();
                        Terms terms = used.get(name);
                        if (terms != null) {
                            published.put(
                                    name,
                                    new Terms(
                                            terms.lease(),
                                            terms.onLeaseLost(),
                                            Duration.ofSeconds(operation
                                                    .get("retentionSeconds")
                                                    .asLong()),
                                            Duration.ofSeconds(operation
                                                    .get("tombstoneSeconds")
                                                    .asLong())));
                        }
                    });
            assertThat(published).isEqualTo(used);
            assertThat(used.get("POST /payments/{id}/refunds").retention()).isEqualTo(Duration.ofDays(30));
            assertThat(used.get("POST /payments").tombstone()).isEqualTo(Duration.ofDays(365));
        }

        @Test
        @DisplayName("Of API keys only the hashes are stored")
        void apiKeys() {
            List<String> stored = server.context()
                    .getBean(Database.class)
                    .transaction(sql -> sql.list(row -> row.getString(1), "SELECT key_hash FROM api_key"));
            assertThat(stored).hasSizeGreaterThanOrEqualTo(2).allMatch(hash -> hash.matches("[0-9a-f]{64}"));
        }

        @Test
        @DisplayName("K7 two tenants with the same key never meet")
        void tenants() throws Exception {
            Reply alices = pay("shared", ORDER);
            Reply bobs = pay("shared", ORDER.replace("1999", "500"), "Authorization", "Bearer test_bob");

            assertThat(bobs.status()).isEqualTo(201);
            assertThat(bobs.json().get("id")).isNotEqualTo(alices.json().get("id"));
            String alicesPayment = "/payments/" + alices.json().get("id").asString();
            assertThat(server.send("GET", alicesPayment, "", "Authorization", "Bearer test_bob")
                            .status())
                    .isEqualTo(404);
            assertThat(server.send("GET", alicesPayment, "", "Authorization", "Bearer stolen")
                            .status())
                    .isEqualTo(401);
        }

        @Test
        @DisplayName(
                "W2 a provider that fails after the charge is asked again under the same key: one charge, one answer")
        void lostAnswers() throws Exception {
            for (String fault : List.of("error_after", "reset_after", "drop_after", "error_before", "reset_before")) {
                provider.faults(Faults.of(Map.of(fault, 0.7, "seed", 11)));
                Reply reply = pay(fault, ORDER);
                while (reply.status() == 202 || reply.status() == 409) {
                    reply = pay(fault, ORDER);
                }
                assertThat(reply.status()).as(fault).isEqualTo(201);
                assertThat(charges(reply)).as(fault).hasSize(1);
            }
        }

        @Test
        @DisplayName("Money is transferred once, and never more than there is")
        void transfers() throws Exception {
            String order = "{\"from_account\":\"current\",\"to_account\":\"savings\",\"amount\":2500}";
            long before = balance("current");
            Reply first = server.send("POST", "/transfers", order, "Idempotency-Key", "transfer");
            Reply again = server.send("POST", "/transfers", order, "Idempotency-Key", "transfer");

            assertThat(first.status()).isEqualTo(201);
            assertThat(again.body()).isEqualTo(first.body());
            assertThat(again.headers().firstValue("Idempotent-Replayed")).hasValue("true");
            assertThat(balance("current")).isEqualTo(before - 2500);

            String tooMuch = order.replace("2500", "99999999");
            Reply refused = server.send("POST", "/transfers", tooMuch, "Idempotency-Key", "too-much");
            assertThat(refused.status()).isEqualTo(422);
            assertThat(refused.json().get("code").asString()).isEqualTo("balance_too_low");
            assertThat(server.send("POST", "/transfers", tooMuch, "Idempotency-Key", "too-much")
                            .body())
                    .isEqualTo(refused.body());
        }

        @Test
        @DisplayName("D8 a refund whose provider fails goes on where it was: money is set aside and refunded once")
        void refunds() throws Exception {
            Reply payment = pay("to-refund", ORDER);
            String path = "/payments/" + payment.json().get("id").asString() + "/refunds";
            provider.faults(Faults.of(Map.of("reset_after", 0.5, "error_before", 0.4, "seed", 5)));
            Reply refund = server.send("POST", path, "{\"amount\":700}", "Idempotency-Key", "refund");
            while (refund.status() == 503 || refund.status() == 409) {
                refund = server.send("POST", path, "{\"amount\":700}", "Idempotency-Key", "refund");
            }
            provider.faults(Faults.none());
            Reply again = server.send("POST", path, "{\"amount\":700}", "Idempotency-Key", "refund");
            Reply tooMuch = server.send("POST", path, "{\"amount\":1300}", "Idempotency-Key", "refund-2");

            assertThat(refund.status()).isEqualTo(201);
            assertThat(again.body()).isEqualTo(refund.body());
            assertThat(tooMuch.status()).isEqualTo(422);
            assertThat(charges(refund)).hasSize(1);
            Reply now = server.send("GET", path.replace("/refunds", ""), "");
            assertThat(now.json().get("refunded").asLong()).isEqualTo(700);
            assertThat(pay("to-refund", ORDER).body()).as("R6").isEqualTo(payment.body());
            assertThat(server.send("POST", "/payments/pay_no/refunds", "{\"amount\":1}", "Idempotency-Key", "refund-3")
                            .status())
                    .isEqualTo(404);
        }

        private long balance(String account) throws Exception {
            return server.send("GET", "/accounts/" + account, "")
                    .json()
                    .get("balance")
                    .asLong();
        }
    }

    @Nested
    class OnSqlite extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return "jdbc:sqlite:" + folder.resolve("payments.db");
        }
    }

    @Nested
    class OnPostgres extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return PostgresServer.shared().createDatabase();
        }
    }

    @Nested
    class OnMariaDb extends Contract {
        @Override
        String jdbcUrl(Path folder) {
            return MariaDbServer.shared().createDatabase();
        }
    }
}
