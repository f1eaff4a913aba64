package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Operator;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.http.Headers;
import dev.onlyonce.http.HttpAnswer;
import dev.onlyonce.http.StoredResponse;
import dev.onlyonce.micrometer.Metric;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.testservers.PostgresServer;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An application with the starter on PostgreSQL")
class SampleTest {
    private static RunningSample app;

    private final String id = UUID.randomUUID().toString();
    private int runsBefore;

    @BeforeAll
    static void start() {
        app = new RunningSample(PostgresServer.shared().createDatabase(), "--onlyonce.wait-max=10s");
    }

    @AfterAll
    static void stop() {
        app.close();
    }

    @BeforeEach
    void count() {
        runsBefore = app.runs();
    }

    private int runs() {
        return app.runs() - runsBefore;
    }

    private long rows() {
        return app.bean(SampleApp.Ledger.class).rows(id);
    }

    private String order(long amount) {
        return "{\"id\":\"" + id + "\",\"amount\":" + amount + "}";
    }

    @ParameterizedTest
    @ValueSource(strings = {"/payments", "/explicit"})
    @DisplayName("R1 in one transaction: the write and the response commit together, and the retry is a replay")
    void transactional(String path) {
        HttpResponse<String> first = app.post(path, id, order(10));
        assertThat(first.statusCode()).isEqualTo(201);
        assertThat(first.headers().firstValue("Idempotency-Key-Expires")).isPresent();
        HttpResponse<String> retry = app.post(path, id, order(10));
        assertThat(isReplay(retry)).isTrue();
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(app.post(path, id, order(11)).statusCode()).isEqualTo(422);
        assertThat(rows()).isEqualTo(1);
        assertThat(runs()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"/payments,500", "/payments,503", "/explicit,500", "/explicit,503"})
    @DisplayName("D5 in one transaction a server error undoes the write, and the next retry runs again")
    void rolledBack(String path, int status) {
        assertThat(app.post(path, id, order(status)).statusCode()).isEqualTo(status);
        assertThat(rows()).isZero();
        assertThat(app.post(path, id, order(status)).statusCode()).isEqualTo(status);
        assertThat(rows()).isZero();
        assertThat(runs()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/payments", "/explicit"})
    @DisplayName("D7 in one transaction a refusal that a service throws undoes its write and is recorded all the same")
    void refusalAfterRollback(String path) {
        HttpResponse<String> first = app.post(path, id, order(-1));
        assertThat(first.statusCode()).isEqualTo(402);
        HttpResponse<String> retry = app.post(path, id, order(-1));
        assertThat(retry.statusCode()).isEqualTo(402);
        assertThat(isReplay(retry)).isTrue();
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(rows()).isZero();
        assertThat(runs()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/payments", "/explicit"})
    @DisplayName("C1 in one transaction: of eight at once one writes, and all get its answer")
    void race(String path) {
        List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            sent.add(app.begin(path, id, order(10)));
        }
        List<HttpResponse<String>> answers =
                sent.stream().map(CompletableFuture::join).toList();
        assertThat(answers).allSatisfy(answer -> assertThat(answer.statusCode()).isEqualTo(201));
        assertThat(answers.stream().map(HttpResponse::body).distinct()).hasSize(1);
        assertThat(answers.stream().filter(answer -> !isReplay(answer))).hasSize(1);
        assertThat(rows()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"/callable,called", "/future,came"})
    @DisplayName("R1 asynchronous handlers are recorded when they answer")
    void asynchronous(String path, String text) {
        HttpResponse<String> first = app.post(path, id, "{}");
        assertThat(first.body()).isEqualTo(text + " " + app.runs());
        HttpResponse<String> retry = app.post(path, id, "{}");
        assertThat(isReplay(retry)).isTrue();
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(runs()).isEqualTo(1);
    }

    @Test
    @DisplayName("R1 the error page of a refusal is recorded byte for byte, time stamp included")
    void errorPage() {
        HttpResponse<String> first = app.post("/refused", id, "{}");
        assertThat(first.statusCode()).isEqualTo(409);
        assertThat(first.body()).contains("\"path\":\"/refused\"").contains("\"timestamp\"");
        HttpResponse<String> retry = app.post("/refused", id, "{}");
        assertThat(isReplay(retry)).isTrue();
        assertThat(retry.body()).isEqualTo(first.body());
        assertThat(runs()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "D4 in strict an exception leaves the outcome unknown; an operator resolves it and the retry gets that")
    void operatorResolves() {
        assertThat(app.post("/strict-failure", id, "{}").statusCode()).isEqualTo(500);
        assertThat(app.post("/strict-failure", id, "{}").body()).contains("outcome_unknown");
        assertThat(app.send("GET", "/actuator/onlyonce", "").body())
                .containsPattern("\"unknown\":[1-9]")
                .contains("\"console\":\"not enabled")
                .as("a summary shows no key")
                .doesNotContain(id);
        Operator operator = app.bean(Onlyonce.class).operator();
        Key key = Key.of("acme", "POST /strict-failure", id);
        byte[] found = StoredResponse.of(new HttpAnswer(
                        200,
                        Headers.of("Content-Type", "text/plain"),
                        "it had worked".getBytes(StandardCharsets.UTF_8)))
                .encode();
        Resolution resolution = Resolution.found(key.entryId(), 1, Optional.of(found), "anna", "found at the provider");
        assertThat(operator.resolve(resolution)).isInstanceOf(SettleResult.Settled.class);
        assertThat(operator.resolve(resolution)).isInstanceOf(SettleResult.Lost.class);
        HttpResponse<String> retry = app.post("/strict-failure", id, "{}");
        assertThat(retry.body()).isEqualTo("it had worked");
        assertThat(isReplay(retry)).isTrue();
        assertThat(operator.evict(key, "anna", "wrong")).isTrue();
        assertThat(operator.history(key))
                .extracting(record -> record.transition().why())
                .contains("found at the provider", "wrong");
        assertThat(runs()).isEqualTo(1);
    }

    @Test
    @DisplayName("An operation that the application executes by itself is published beside its handlers")
    void publishesOperations() {
        assertThat(app.send("GET", "/.well-known/idempotency", "").body())
                .contains("\"POST /queued\"")
                .contains("\"POST /payments\"");
    }

    @Test
    @DisplayName("W7 the actuator shows which handlers are protected, which are not, and which need not be")
    void coverage() {
        assertThat(app.send("GET", "/actuator/onlyonce", "").body())
                .contains("\"unprotectedHandlers\":[\"POST /forgotten\"]")
                .contains("\"exempt\":[\"POST /harmless: it changes nothing\"]")
                .contains("\"POST /payments\"");
    }

    @Test
    @DisplayName(
            "S1 decisions are counted by operation and tenant, leased and transactional ones; every metric is there")
    void meters() {
        app.post("/payments", id, order(10));
        app.post("/payments", id, order(10));
        app.post("/callable", id + "-c", "{}");
        app.post("/callable", id + "-c", "{\"other\":1}");
        for (String counted : List.of(
                "created?tag=operation:POST%20/payments",
                "replay?tag=operation:POST%20/payments",
                "created?tag=operation:POST%20/callable",
                "key_misuse?tag=operation:POST%20/callable&tag=tenant:acme")) {
            HttpResponse<String> meter = app.send("GET", "/actuator/metrics/api.idempotency.reserve." + counted, "");
            assertThat(meter.statusCode()).as(counted).isEqualTo(200);
            assertThat(meter.body()).contains("\"statistic\":\"COUNT\"").doesNotContain("\"value\":0.0");
        }
        for (Metric metric : Metric.values()) {
            assertThat(app.send("GET", "/actuator/metrics/" + metric.meterName(), "")
                            .statusCode())
                    .as(metric.meterName())
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName("The health of the store is part of the application's")
    void health() {
        assertThat(app.send("GET", "/actuator/health", "").body())
                .contains("\"onlyonce\":{")
                .contains("\"liveClaims\"");
    }

    @Test
    @DisplayName("A method of a bean runs once for each key and returns what the first run returned")
    void methods() {
        SampleApp.Transfers transfers = app.bean(SampleApp.Transfers.class);
        SampleApp.Payment first = transfers.leased(id, 10);
        assertThat(transfers.leased(id, 10)).isEqualTo(first);
        assertThat(transfers.many("acme", id)).isEqualTo(transfers.many("acme", id));
        assertThat(transfers.many("zenith", id).get(1).id()).isEqualTo("zenith");
        assertThat(runs()).isEqualTo(3);
        assertThatThrownBy(() -> transfers.leased(id, 11))
                .isInstanceOfSatisfying(
                        OutcomeException.class,
                        e -> assertThat(e.outcome())
                                .isEqualTo(new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST)));
    }

    @Test
    @DisplayName("D4 an exception of a bean's method passes, and leaves the outcome unknown")
    void failingMethod() {
        SampleApp.Transfers transfers = app.bean(SampleApp.Transfers.class);
        assertThatThrownBy(() -> transfers.failing(id)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> transfers.failing(id))
                .isInstanceOfSatisfying(
                        OutcomeException.class, e -> assertThat(e.outcome()).isInstanceOf(Outcome.Unknown.class));
        assertThat(runs()).isEqualTo(1);
    }

    @Test
    @DisplayName("D5 a transactional method of a bean commits with its entry, and an exception undoes both")
    void transactionalMethod() {
        SampleApp.Transfers transfers = app.bean(SampleApp.Transfers.class);
        assertThatThrownBy(() -> transfers.transactional(id, 500)).isInstanceOf(IllegalStateException.class);
        assertThat(rows()).isZero();
        assertThatThrownBy(() -> transfers.transactional(id, 500)).isInstanceOf(IllegalStateException.class);
        assertThat(transfers.transactional(id, 10)).isEqualTo(10);
        assertThat(transfers.transactional(id, 10)).isEqualTo(10);
        assertThat(rows()).isEqualTo(1);
        assertThat(runs()).isEqualTo(3);
    }
}
