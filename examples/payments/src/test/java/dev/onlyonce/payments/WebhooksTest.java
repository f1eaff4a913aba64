package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.payments.PaymentsServer.Reply;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.domain.Payment;
import dev.onlyonce.payments.domain.PaymentOrder;
import dev.onlyonce.payments.domain.Payments;
import dev.onlyonce.payments.provider.Webhooks;
import java.io.ByteArrayInputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WebhooksTest {
    private static final String SECRET = "the provider's secret";

    private final Clock clock = Clock.systemUTC();
    private PaymentsServer server;

    @BeforeAll
    void start(@TempDir Path folder) {
        server = PaymentsServer.start(
                "jdbc:sqlite:" + folder.resolve("payments.db"), "payments.webhook-secret=" + SECRET);
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @Test
    @DisplayName("W5 a webhook that comes twice is applied once")
    void twice() throws Exception {
        Payment payment = pending("twice");
        String event = event("evt_twice", "charge.succeeded", payment, "ch_1");
        assertThat(send(event, now())).isEqualTo(204);
        assertThat(send(event, now())).isEqualTo(204);
        // With another content it is not the same event.
        assertThat(send(event.replace("ch_1", "ch_2"), now())).isEqualTo(422);

        assertThat(find(payment).providerId()).isEqualTo("ch_1");
        assertThat(find(payment).providerSaid()).isEqualTo("succeeded");
        assertThat(rows("evt_twice")).isEqualTo(1);
    }

    @Test
    @DisplayName("W5 webhooks out of order say the same in the end")
    void outOfOrder() throws Exception {
        Payment payment = pending("out-of-order");
        assertThat(send(event("evt_b", "charge.succeeded", payment, "ch_1"), now()))
                .isEqualTo(204);
        assertThat(send(event("evt_a", "charge.created", payment, "ch_1"), now()))
                .isEqualTo(204);
        // What was said is not taken back.
        assertThat(send(event("evt_c", "charge.declined", payment, "ch_1").replace("succeeded", "declined"), now()))
                .isEqualTo(204);

        assertThat(find(payment).providerSaid()).isEqualTo("succeeded");
        assertThat(find(payment).providerId()).isEqualTo("ch_1");
    }

    @Test
    @DisplayName("W5 a forged, an altered and an old webhook are refused and change nothing")
    void forged() throws Exception {
        Payment payment = pending("forged");
        String event = event("evt_forged", "charge.succeeded", payment, "ch_1");
        byte[] body = event.getBytes(StandardCharsets.UTF_8);
        String signed = sign(SECRET, body, now());

        assertThat(deliver(event, sign("guessed", body, now()))).isEqualTo(401);
        assertThat(deliver(event.replace("1999", "1"), signed)).isEqualTo(401);
        assertThat(send(event, now().minus(Duration.ofMinutes(6)))).isEqualTo(401);
        assertThat(send(event, now().plus(Duration.ofMinutes(6)))).isEqualTo(401);
        assertThat(deliver(event, "t=1,v1=00")).isEqualTo(401);
        assertThat(server.send("POST", "/webhooks/provider", event).status()).isEqualTo(401);

        assertThat(find(payment).providerSaid()).isNull();
        assertThat(rows("evt_forged")).isZero();
        // The true one is still applied.
        assertThat(send(event, now())).isEqualTo(204);
        assertThat(find(payment).providerSaid()).isEqualTo("succeeded");
    }

    @Test
    @DisplayName("W5 webhooks about what is not known, and unreadable ones, do no harm")
    void strange() throws Exception {
        Payment unknown =
                new Payment("pay_no", "alice", 1, "EUR", "", "tok_visa", "pending", null, null, "no such key", 0, 0);
        assertThat(send(event("evt_unknown", "charge.succeeded", unknown, "ch_9"), now()))
                .isEqualTo(204);
        assertThat(send("{\"id\":\"evt_x\",\"type\":\"account.updated\"}", now()))
                .isEqualTo(204);
        assertThat(send("{\"id\":", now())).isEqualTo(400);
        assertThat(send("{\"type\":\"charge.succeeded\"}", now())).isEqualTo(400);
    }

    @Test
    @DisplayName("A body that is too large is refused before it is held, also one of unknown length")
    void tooLarge() throws Exception {
        byte[] body = new byte[(1 << 20) + 1];
        HttpRequest.Builder request = HttpRequest.newBuilder(server.url().resolve("/webhooks/provider"))
                .header("Content-Type", "application/json")
                .expectContinue(true);
        HttpClient client = HttpClient.newHttpClient();
        for (HttpRequest.BodyPublisher publisher : List.of(
                HttpRequest.BodyPublishers.ofByteArray(body),
                HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)))) {
            HttpResponse<String> refused =
                    client.send(request.POST(publisher).build(), HttpResponse.BodyHandlers.ofString());
            assertThat(refused.statusCode()).isEqualTo(413);
            assertThat(refused.body()).contains("body_too_large");
        }
    }

    @Test
    @DisplayName("There is no secret that everybody knows: without one of its own the application does not start")
    void noSecret(@TempDir Path folder) {
        SpringApplicationBuilder application = new SpringApplicationBuilder(PaymentsApplication.class);
        assertThatThrownBy(() -> application.run(
                        "--server.port=0", "--payments.db=jdbc:sqlite:" + folder.resolve("payments.db")))
                .rootCause()
                .hasMessageContaining("payments.webhook-secret");
    }

    private Instant now() {
        return clock.instant();
    }

    private int send(String event, Instant signedAt) throws Exception {
        return deliver(event, sign(SECRET, event.getBytes(StandardCharsets.UTF_8), signedAt));
    }

    private static String sign(String secret, byte[] body, Instant at) {
        return Webhooks.scheme(secret)
                .sign("", body, at)
                .first(Webhooks.SIGNATURE_HEADER)
                .orElseThrow();
    }

    private int deliver(String event, String signature) throws Exception {
        Reply reply = server.send("POST", "/webhooks/provider", event, Webhooks.SIGNATURE_HEADER, signature);
        return reply.status();
    }

    private static String event(String id, String type, Payment payment, String charge) {
        return """
        {"id":"%s","type":"%s","created_at":1,"data":{"id":"%s","kind":"charge","status":"succeeded","amount":1999,\
        "currency":"EUR","reference":"%s","idempotency_key":"%s","created_at":1}}""".formatted(id, type, charge, payment.id(), payment.downstreamKey());
    }

    private Payment pending(String downstreamKey) {
        Payments payments = server.context().getBean(Payments.class);
        Payment payment = payments.prepare("alice", new PaymentOrder(1999L, "EUR", null, null, null), downstreamKey);
        return database().transaction(sql -> {
            payments.insert(sql, payment);
            return payment;
        });
    }

    private Payment find(Payment payment) {
        return database()
                .transaction(sql -> server.context().getBean(Payments.class).get(sql, payment.id()));
    }

    private int rows(String event) {
        List<Integer> count = database()
                .transaction(sql -> sql.list(
                        row -> row.getInt(1),
                        "SELECT COUNT(*) FROM onlyonce_entry WHERE space = 'inbox' AND key_ = ?",
                        event));
        return count.get(0);
    }

    private Database database() {
        return server.context().getBean(Database.class);
    }
}
