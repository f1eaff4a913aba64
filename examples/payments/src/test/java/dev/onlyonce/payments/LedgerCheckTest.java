package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Listener;
import dev.onlyonce.payments.PaymentsServer.Reply;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.LedgerCheck;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.PaymentOrder;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.payments.domain.ProviderClient;
import dev.onlyonce.payments.domain.Refunding;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.sql.LedgerReconciliation.Difference;
import dev.onlyonce.sql.LedgerReconciliation.Line;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LedgerCheckTest {
    private static final long HOUR = Duration.ofHours(1).toMillis();

    @TempDir
    private Path folder;

    @Test
    @DisplayName(
            "W6 the payments and refunds of a period are compared with the provider's ledger, and differences are counted")
    void differences() throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"),
                        "payments.provider.url=" + provider.url(),
                        "payments.wait-max=60s")) {
            String equal = pay(server, "equal");
            Reply refund = server.send(
                    "POST", "/payments/" + equal + "/refunds", "{\"amount\":700}", "Idempotency-Key", "refund");
            assertThat(refund.status()).isEqualTo(201);
            LedgerCheck check = server.context().getBean(LedgerCheck.class);
            long now = Clock.systemUTC().millis();
            assertThat(check.compare(now - HOUR, now + HOUR)).isEmpty();

            String different = pay(server, "different");
            new Client(provider.url())
                    .send("POST", "/charges", "{\"amount\":5,\"currency\":\"EUR\",\"reference\":\"by hand\"}");
            Payments payments = server.context().getBean(Payments.class);
            Payment missing = payments.prepare("alice", new PaymentOrder(1999L, "EUR", null, null, null), "none");
            server.context().getBean(Database.class).transaction(sql -> {
                sql.update("UPDATE payment SET amount = 2000 WHERE id = ?", different);
                payments.insert(sql, missing);
                return true;
            });

            assertThat(check.compare(now - HOUR, now + HOUR))
                    .containsExactlyInAnyOrder(
                            new Difference.Missing(new Line(missing.id(), 1999, "pending")),
                            new Difference.Extra(new Line("by hand", 5, "succeeded")),
                            new Difference.Different(
                                    new Line(different, 2000, "succeeded"), new Line(different, 1999, "succeeded")));
            assertThat(check.compare(now - 2 * HOUR, now - HOUR)).isEmpty();
            counted(server, now);
        }
    }

    /** The hourly comparison leaves out the last hour, so it is made two hours later. */
    private static void counted(PaymentsServer server, long now) throws Exception {
        LedgerCheck later = new LedgerCheck(
                server.context().getBean(Database.class),
                server.context().getBean(Refunding.Tables.class),
                server.context().getBean(ProviderClient.class),
                () -> Instant.ofEpochMilli(now + 2 * HOUR),
                List.copyOf(server.context().getBeansOfType(Listener.class).values()));
        for (String kind : List.of("missing", "extra", "different")) {
            assertThat(server.send("GET", "/metrics", "").body())
                    .contains("api_idempotency_ledger_differences{kind=\"" + kind + "\"} 0.0");
        }
        later.run();
        for (String kind : List.of("missing", "extra", "different")) {
            assertThat(server.send("GET", "/metrics", "").body())
                    .contains("api_idempotency_ledger_differences{kind=\"" + kind + "\"} 1.0");
        }
    }

    private static String pay(PaymentsServer server, String key) throws Exception {
        Reply paid =
                server.send("POST", "/payments", "{\"amount\": 1999, \"currency\": \"EUR\"}", "Idempotency-Key", key);
        assertThat(paid.status()).as(paid.body()).isEqualTo(201);
        return paid.json().get("id").asString();
    }
}
