package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.PaymentsServer.Reply;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DroppedLetterTest {
    private static final String ORDER = "{\"amount\": 1999, \"currency\": \"EUR\"}";

    @TempDir
    private Path folder;

    @Test
    @DisplayName("W1 a payment whose outbox row was dropped is queued again by its client, as the payment that it was")
    void queuedAgain() throws Exception {
        int providerPort = DemoCommand.freePort();
        String jdbcUrl = "jdbc:sqlite:" + folder.resolve("payments.db");
        try (PaymentsServer server = PaymentsServer.start(
                jdbcUrl, "payments.provider.url=http://127.0.0.1:" + providerPort, "payments.wait-max=100ms")) {
            Reply accepted = server.send("POST", "/payments", ORDER, "Idempotency-Key", "dropped");
            assertThat(accepted.status()).isEqualTo(202);
            String location = accepted.headers().firstValue("Location").orElseThrow();
            Books books = new Books(jdbcUrl, server.url());
            while (books.count("SELECT state FROM onlyonce_entry WHERE fingerprint_version > 0") != 5) {
                server.send("GET", location, "");
            }
            // A worker that has just taken the row again would lose it in its hands.
            Database database = server.context().getBean(Database.class);
            while (database.transaction(sql -> sql.update("DELETE FROM onlyonce_outbox WHERE token IS NULL")) == 0) {
                server.send("GET", location, "");
            }

            try (Provider provider = Provider.start(ProviderOptions.in(folder).port(providerPort))) {
                Reply paid = server.send("POST", "/payments", ORDER, "Idempotency-Key", "dropped");
                while (paid.status() == 202) {
                    paid = server.send("POST", "/payments", ORDER, "Idempotency-Key", "dropped");
                }
                assertThat(paid.status()).as(paid.body()).isEqualTo(201);
                assertThat(paid.headers().firstValue("Location")).hasValue(location);
                assertThat(server.send("GET", location, "").json().get("status").asString())
                        .isEqualTo("succeeded");
                assertThat(new Books(jdbcUrl, provider.url()).movements("charge"))
                        .singleElement()
                        .satisfies(charge -> assertThat(location).endsWith(charge.reference()));
            }
        }
    }
}
