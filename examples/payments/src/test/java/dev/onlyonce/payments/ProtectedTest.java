package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.spring.test.Reply;
import dev.onlyonce.spring.test.Retries;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Calls of the payments that change something")
class ProtectedTest {
    private static final String ORDER = "{\"amount\": 1999, \"currency\": \"EUR\"}";

    private Provider provider;
    private PaymentsServer server;
    private Retries retries;

    @BeforeEach
    void start(@TempDir Path folder) {
        provider = Provider.start(ProviderOptions.in(folder));
        server = PaymentsServer.start(
                "jdbc:sqlite:" + folder.resolve("payments.db"),
                "payments.provider.url=" + provider.url(),
                "payments.wait-max=60s");
        retries = server.context().getBean(Retries.class);
    }

    @AfterEach
    void stop() {
        server.close();
        provider.close();
    }

    private Reply pay(String key, String order) throws Exception {
        PaymentsServer.Reply reply = server.send("POST", "/payments", order, "Idempotency-Key", key);
        return new Reply(
                reply.status(), reply.headers().map(), reply.body().getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    @Test
    @DisplayName("W7 R1 F1 are all protected; a payment is replayed, and its key pays nothing else")
    void protectedCalls() throws Exception {
        retries.assertAllProtected();
        retries.assertProtected("POST /payments");
        assertThat(retries.assertReplayed(key -> pay(key, ORDER)).status()).isEqualTo(201);
        Reply refused = retries.assertRefusesOther(
                key -> pay(key, ORDER), key -> pay(key, "{\"amount\": 1, \"currency\": \"EUR\"}"));
        assertThat(refused.status()).isEqualTo(422);
        assertThat(server.context().getBean(Store.class)).isNotInstanceOf(MemoryStore.class);
    }
}
