package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Reconciler;
import dev.onlyonce.payments.PaymentsServer.Reply;
import dev.onlyonce.payments.provider.Movement;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A key that the payments have forgotten pays again; the provider has forgotten it too. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class KeyUsedAgainTest {
    private static final String ORDER = "{\"amount\": 1999, \"currency\": \"EUR\"}";
    private static final Key KEY = Key.of("alice", "POST /payments", "again");
    private static final String STATE = "SELECT state FROM onlyonce_entry WHERE operation = 'POST /payments'";
    private static final int UNKNOWN = 6;

    private Provider provider;
    private HoldingProvider before;
    private PaymentsServer server;
    private Books books;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        provider = Provider.start(ProviderOptions.in(folder).keyLifetime(Duration.ZERO));
        before = new HoldingProvider(provider.url());
        String jdbcUrl = "jdbc:sqlite:" + folder.resolve("payments.db");
        server = PaymentsServer.start(
                jdbcUrl,
                "payments.provider.url=" + before.url(),
                "payments.provider.absent-after=0s",
                "payments.wait-max=100ms");
        books = new Books(jdbcUrl, provider.url());
    }

    @AfterEach
    void stop() {
        server.close();
        before.close();
        provider.close();
    }

    private Reply pay() throws Exception {
        return server.send("POST", "/payments", ORDER, "Idempotency-Key", KEY.value());
    }

    private Reply paid() throws Exception {
        Reply paid = pay();
        while (paid.status() == 202) {
            paid = pay();
        }
        return paid;
    }

    private Onlyonce once() {
        return server.context().getBean(Onlyonce.class);
    }

    /** Until a call is in doubt. */
    private void awaitDoubt() throws Exception {
        while (books.count(STATE) != UNKNOWN) {
            pay();
        }
    }

    @Test
    @DisplayName("T2 after its entry was evicted a key pays as new")
    void evicted() throws Exception {
        Reply first = paid();
        assertThat(once().operator().evict(KEY, "operator", "a test")).isTrue();
        Reply second = paid();

        assertThat(second.status()).as(second.body()).isEqualTo(201);
        assertThat(second.headers().firstValue("Location"))
                .isNotEqualTo(first.headers().firstValue("Location"));
        assertThat(books.movements("charge")).filteredOn(Movement::succeeded).hasSize(2);
    }

    @Test
    @DisplayName("D6 the charge of an earlier payment under the same key says nothing about this one")
    void earlierCharge() throws Exception {
        paid();
        assertThat(once().operator().evict(KEY, "operator", "a test")).isTrue();
        before.answerInstead("POST /charges", 500);
        awaitDoubt();

        Reconciler.Round round = once().operator().reconcile();
        assertThat(round.found()).isZero();
    }

    @Test
    @DisplayName("D6 while a worker still asks, no absence is believed: what it has sent may yet arrive")
    void underWay() throws Exception {
        before.answerInstead("POST /charges", 409);
        awaitDoubt();

        Reconciler.Round round = once().operator().reconcile();
        assertThat(round).isEqualTo(new Reconciler.Round(1, 0, 0, 1));
    }
}
