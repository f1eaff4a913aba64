package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.payments.PaymentsServer.Reply;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.ForgottenRefunds;
import dev.onlyonce.payments.domain.ProviderClient;
import dev.onlyonce.payments.domain.Refunding;
import dev.onlyonce.payments.provider.Faults;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.store.Entry;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ApplicationContext;

/** Every refund comes to an end, and the money that was set aside for it is refunded or free again. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class RefundEndsTest {
    private static final String ORDER = "{\"amount\": 1999, \"currency\": \"EUR\"}";
    private static final String REFUND = "{\"amount\": 700}";

    private Provider provider;
    private HoldingProvider before;
    private PaymentsServer server;
    private Books books;

    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        provider = Provider.start(ProviderOptions.in(folder));
        before = new HoldingProvider(provider.url());
        String jdbcUrl = "jdbc:sqlite:" + folder.resolve("payments.db");
        server = PaymentsServer.start(
                jdbcUrl,
                "payments.provider.url=" + before.url(),
                "payments.provider.absent-after=100ms",
                "payments.provider.timeout=60s",
                "payments.lease=3s");
        books = new Books(jdbcUrl, provider.url());
    }

    @AfterAll
    void stop() {
        server.close();
        before.close();
        provider.close();
    }

    @AfterEach
    void calm() {
        before.answerInstead("POST /refunds", 0);
        provider.faults(Faults.none());
    }

    private String paid(String key) throws Exception {
        Reply paid = server.send("POST", "/payments", ORDER, "Idempotency-Key", key);
        while (paid.status() == 202) {
            paid = server.send("POST", "/payments", ORDER, "Idempotency-Key", key);
        }
        return "/payments/" + paid.json().get("id").asString();
    }

    private Reply refund(String payment, String key) throws Exception {
        return server.send("POST", payment + "/refunds", REFUND, "Idempotency-Key", key);
    }

    private long refunded(String payment) throws Exception {
        return server.send("GET", payment, "").json().get("refunded").asLong();
    }

    @Test
    @DisplayName("D7 a refund that the provider refuses is declined for good, and the money is free again")
    void refused() throws Exception {
        String payment = paid("refused");
        before.answerInstead("POST /refunds", 422);
        Reply refused = refund(payment, "refused-refund");
        before.answerInstead("POST /refunds", 0);

        assertThat(refused.status()).as(refused.body()).isEqualTo(402);
        assertThat(refused.json().get("status").asString()).isEqualTo("declined");
        assertThat(refund(payment, "refused-refund").body()).isEqualTo(refused.body());
        assertThat(refunded(payment)).isZero();
    }

    @Test
    @DisplayName("D8 a refund that was made, and is refused when it is asked for again, is found in the ledger")
    void madeAndRefused() throws Exception {
        String payment = paid("made");
        provider.faults(Faults.of(Map.of("error_after", 1.0)));
        assertThat(refund(payment, "made-refund").status()).isEqualTo(503);
        before.answerInstead("POST /refunds", 404);
        Reply found = refund(payment, "made-refund");

        assertThat(found.status()).as(found.body()).isEqualTo(201);
        assertThat(refunded(payment)).isEqualTo(700);
    }

    @Test
    @DisplayName("A refund whose answer was lost is remembered for a month, not for a day")
    void remembered() throws Exception {
        String payment = paid("remembered");
        provider.faults(Faults.of(Map.of("error_after", 1.0)));
        assertThat(refund(payment, "remembered-refund").status()).isEqualTo(503);

        Key key = Key.of("alice", "POST /payments/{id}/refunds", "remembered-refund");
        Entry entry = server.context().getBean(Onlyonce.class).find(key).orElseThrow();
        assertThat(entry.retentionLeft()).isGreaterThan(Duration.ofDays(29));
    }

    @Test
    @DisplayName("A refund whose client does not come back is finished as the provider's ledger has it")
    void forgotten() throws Exception {
        String payment = paid("forgotten");
        provider.faults(Faults.of(Map.of("error_after", 1.0)));
        assertThat(refund(payment, "forgotten-refund").status()).isEqualTo(503);
        while (refunds(payment, "pending") > 0) {
            server.send("GET", payment, "");
        }

        assertThat(refunds(payment, "succeeded")).isEqualTo(1);
        assertThat(refunded(payment)).isEqualTo(700);
        provider.faults(Faults.none());
        Reply late = refund(payment, "forgotten-refund");
        assertThat(late.status()).as(late.body()).isEqualTo(201);
        assertThat(refunded(payment)).isEqualTo(700);
        assertThat(books.movements("refund"))
                .filteredOn(refund ->
                        refund.reference().equals(late.json().get("id").asString()))
                .hasSize(1);
    }

    @Test
    @DisplayName(
            "A refund that was not made, and that nobody has asked for in a day, is given up: the money is free again")
    void givenUp() throws Exception {
        String payment = paid("given-up");
        before.answerInstead("POST /refunds", 503);
        assertThat(refund(payment, "given-up-refund").status()).isEqualTo(503);
        forgottenAfter(Duration.ofHours(1)).run();
        assertThat(refunds(payment, "pending")).isEqualTo(1);
        assertThat(refunded(payment)).isEqualTo(700);

        forgottenAfter(Duration.ofHours(25)).run();
        forgottenAfter(Duration.ofHours(25)).run();
        assertThat(refunds(payment, "failed")).isEqualTo(1);
        assertThat(refunded(payment)).isZero();
        before.answerInstead("POST /refunds", 0);
        Reply late = refund(payment, "given-up-refund");
        assertThat(late.status()).as(late.body()).isEqualTo(402);
        assertThat(late.json().get("status").asString()).isEqualTo("failed");
        assertThat(refunded(payment)).isZero();
        assertThat(books.movements("refund"))
                .noneMatch(made -> made.reference().equals(late.json().get("id").asString()));
    }

    @Test
    @DisplayName(
            "D8 when the store fails in the middle of a refund, its client is told to go on, not that nothing was done")
    void storeFails() throws Exception {
        String payment = paid("store-fails");
        String order = "{\"amount\": " + HoldingProvider.HELD_AFTER + "}";
        CompletableFuture<Reply> refund = new Client(server.url())
                .sendAsync("POST", payment + "/refunds", order, "Idempotency-Key", "store-fails-refund");
        while (before.held() == 0) {
            server.send("GET", payment, "");
        }
        rename("onlyonce_step", "hidden");
        before.release();
        Reply failed = refund.get();
        rename("hidden", "onlyonce_step");

        assertThat(failed.status()).as(failed.body()).isEqualTo(503);
        assertThat(failed.json().get("detail").asString()).contains("with the same key; it goes on");
        Reply again = server.send("POST", payment + "/refunds", order, "Idempotency-Key", "store-fails-refund");
        while (again.body().contains("in_progress")) {
            again = server.send("POST", payment + "/refunds", order, "Idempotency-Key", "store-fails-refund");
        }
        assertThat(again.status()).as(again.body()).isEqualTo(201);
        assertThat(refunded(payment)).isEqualTo(HoldingProvider.HELD_AFTER);
    }

    @Test
    @DisplayName("D7 a refund of a payment that is pending is put off, and made when its client asks again")
    void pendingPayment() throws Exception {
        before.hold();
        String order = "{\"amount\": " + HoldingProvider.HELD_AFTER + ", \"currency\": \"EUR\"}";
        Reply accepted = server.send("POST", "/payments", order, "Idempotency-Key", "pending");
        assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);
        String payment = accepted.headers().firstValue("Location").orElseThrow();
        Reply early = refund(payment, "early");
        assertThat(early.status()).as(early.body()).isEqualTo(409);
        assertThat(early.json().get("code").asString()).isEqualTo("payment_pending");
        assertThat(early.headers().firstValue("Retry-After")).isPresent();
        before.release();
        Reply again = refund(payment, "early");
        while (again.status() == 409) {
            again = refund(payment, "early");
        }
        assertThat(again.status()).as(again.body()).isEqualTo(201);
        assertThat(refunds(payment, "succeeded")).isEqualTo(1);
    }

    private void rename(String table, String name) {
        server.context()
                .getBean(Database.class)
                .transaction(sql -> sql.update("ALTER TABLE " + table + " RENAME TO " + name));
    }

    private ForgottenRefunds forgottenAfter(Duration time) {
        ApplicationContext context = server.context();
        return new ForgottenRefunds(
                context.getBean(Database.class),
                context.getBean(Refunding.Tables.class),
                context.getBean(ProviderClient.class),
                Duration.ofMinutes(1),
                InstantSource.offset(context.getBean(InstantSource.class), time));
    }

    private long refunds(String payment, String status) throws Exception {
        return books.count("SELECT count(*) FROM refund WHERE status = '" + status + "' AND payment_id = '"
                + payment.substring(payment.lastIndexOf('/') + 1) + "'");
    }
}
