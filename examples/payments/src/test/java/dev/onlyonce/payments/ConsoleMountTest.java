package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The console of the payments")
class ConsoleMountTest {

    @Test
    @DisplayName("O1 O2 S5 is for this machine, needs no API key of a merchant, and changes nothing without its token")
    void mounted(@TempDir Path folder) throws Exception {
        try (Provider provider = Provider.start(ProviderOptions.in(folder));
                PaymentsServer server = PaymentsServer.start(
                        "jdbc:sqlite:" + folder.resolve("payments.db"), "payments.provider.url=" + provider.url())) {
            server.send(
                    "POST",
                    "/payments",
                    "{\"amount\": 1999, \"currency\": \"EUR\"}",
                    "Idempotency-Key",
                    "shown-in-console");
            PaymentsServer.Reply page = server.send("GET", "/onlyonce/", "");
            assertThat(page.status()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Security-Policy")).isPresent();
            assertThat(server.send("GET", "/onlyonce/v1/keys", "").body()).contains("shown-in-console");
            assertThat(server.send("GET", "/onlyonce/v1/overview", "").body())
                    .contains("\"deadLetters\"", "\"perSecond\"");
            assertThat(server.send("GET", "/onlyonce/v1/operations", "").body())
                    .contains("POST /payments", "\"way\":\"queued\"");
            assertThat(server.send("POST", "/onlyonce/v1/reconcile/run", "{}").body())
                    .contains("csrf");
            assertThat(server.send("GET", "/onlyonce/v1/keys", "", "X-Forwarded-For", "127.0.0.1")
                            .status())
                    .isEqualTo(401);
        }
    }
}
