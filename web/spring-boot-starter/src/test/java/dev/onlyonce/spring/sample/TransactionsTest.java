package dev.onlyonce.spring.sample;

import static dev.onlyonce.spring.sample.RunningSample.isReplay;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.MalformedKey;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.testservers.PostgresServer;
import java.net.http.HttpResponse;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.core.JdbcTemplate;

@DisplayName("Transactions and methods in an application with the starter")
class TransactionsTest {
    private static RunningSample app;

    private final String id = UUID.randomUUID().toString();
    private int runsBefore;

    @BeforeAll
    static void start() {
        app = new RunningSample(PostgresServer.shared().createDatabase(), "--onlyonce.limits.new-keys-per-second=3");
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

    private long rows(String of) {
        return app.bean(SampleApp.Ledger.class).rows(of);
    }

    private String order(long amount) {
        return "{\"id\":\"" + id + "\",\"amount\":" + amount + "}";
    }

    /** Other tests use up the allowance of new keys; what is over it did not run. */
    private HttpResponse<String> post(String path, long amount) {
        HttpResponse<String> answer = app.post(path, id, order(amount));
        while (answer.statusCode() == 429) {
            answer = app.post(path, id, order(amount));
        }
        return answer;
    }

    @ParameterizedTest
    @EnumSource(
            value = LosingCommits.Loss.class,
            names = {"COMMIT", "ANSWER", "STANDBY"})
    @DisplayName("D5 D17 a commit that is not acknowledged is 503; the retry is a replay if it had arrived, else runs")
    void lostCommit(LosingCommits.Loss loss) {
        app.bean(LosingCommits.class).lose(loss);
        HttpResponse<String> first = post("/payments", 10);
        assertThat(first.statusCode()).isEqualTo(503);
        assertThat(first.body()).contains("not_recorded");
        assertThat(first.headers().firstValue("Retry-After")).isPresent();
        HttpResponse<String> retry = post("/payments", 10);
        assertThat(retry.statusCode()).isEqualTo(201);
        boolean arrived = loss != LosingCommits.Loss.COMMIT;
        assertThat(isReplay(retry)).isEqualTo(arrived);
        assertThat(rows(id)).isEqualTo(1);
        assertThat(runs()).isEqualTo(arrived ? 1 : 2);
    }

    @Test
    @DisplayName("D5 a success whose transaction was rolled back is none: 500, and the retry runs")
    void swallowed() {
        for (int run = 1; run <= 2; run++) {
            HttpResponse<String> answer = post("/swallowed", 10);
            assertThat(answer.statusCode()).isEqualTo(500);
            assertThat(answer.headers().firstValue("Location")).isEmpty();
            assertThat(rows(id)).isZero();
            assertThat(runs()).isEqualTo(run);
        }
    }

    @Test
    @DisplayName("D5 what the database refuses at the commit is the application's error, and is not recorded")
    void refusedAtCommit() {
        JdbcTemplate jdbc = app.bean(JdbcTemplate.class);
        jdbc.execute("ALTER TABLE ledger ADD CONSTRAINT once UNIQUE (id, amount) DEFERRABLE INITIALLY DEFERRED");
        try {
            jdbc.update("INSERT INTO ledger (id, amount) VALUES (?, 10)", id);
            assertThat(post("/payments", 10).statusCode()).isEqualTo(500);
            assertThat(rows(id)).isEqualTo(1);
            jdbc.update("DELETE FROM ledger WHERE id = ?", id);
            assertThat(post("/payments", 10).statusCode()).isEqualTo(201);
            assertThat(rows(id)).isEqualTo(1);
        } finally {
            jdbc.execute("ALTER TABLE ledger DROP CONSTRAINT once");
        }
    }

    @Test
    @DisplayName("S3 replays in the transactional way are no new keys")
    void replaysAreNotLimited() {
        post("/payments", 10);
        for (int i = 0; i < 20; i++) {
            HttpResponse<String> retry = app.post("/payments", id, order(10));
            assertThat(retry.statusCode()).isEqualTo(201);
            assertThat(isReplay(retry)).isTrue();
        }
        assertThat(runs()).isEqualTo(1);
    }

    @Test
    @DisplayName("C6 duplicates of a method within a caller's transaction do not harm it, and all commits together")
    void outerTransaction() {
        app.bean(SampleApp.Outer.class).twice(id);
        assertThat(rows(id)).isEqualTo(1);
        assertThat(rows(id + "-outer")).isEqualTo(2);
        assertThat(runs()).isEqualTo(1);
        assertThat(app.bean(SampleApp.Transfers.class).transactional(id, 10)).isEqualTo(10);
        assertThat(runs()).isEqualTo(1);
    }

    @Test
    @DisplayName("D5 a method whose caller's transaction is rolled back has not happened and runs again")
    void outerRollback() {
        SampleApp.Outer outer = app.bean(SampleApp.Outer.class);
        assertThatThrownBy(() -> outer.undone(id)).hasMessage("after all");
        assertThat(rows(id)).isZero();
        assertThat(app.bean(SampleApp.Transfers.class).transactional(id, 10)).isEqualTo(10);
        assertThat(rows(id)).isEqualTo(1);
        assertThat(runs()).isEqualTo(2);
    }

    @Test
    @DisplayName("K2 keys of methods that are null, empty or too long are refused, and nothing runs")
    void malformedKeys() {
        SampleApp.Transfers transfers = app.bean(SampleApp.Transfers.class);
        for (String key : new String[] {null, "", "x".repeat(256)}) {
            assertThatThrownBy(() -> transfers.leased(key, 10)).isInstanceOf(MalformedKey.class);
        }
        assertThat(runs()).isZero();
    }

    @Test
    @DisplayName("K7 a tenant that is null is refused, and never everybody's")
    void noTenant() {
        assertThatThrownBy(() -> app.bean(SampleApp.Transfers.class).many(null, id))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the tenant of many (#tenant) is null");
        assertThat(runs()).isZero();
    }

    @Test
    @DisplayName("An inherited method is an operation of each bean, with that bean's type of result")
    void inherited() {
        String text = app.bean(SampleApp.Texts.class).inherited(id);
        assertThatThrownBy(() -> app.bean(SampleApp.Payouts.class).inherited(id))
                .isInstanceOf(OutcomeException.class);
        SampleApp.Payment payment = app.bean(SampleApp.Payouts.class).inherited(id + "-p");
        assertThat(app.bean(SampleApp.Texts.class).inherited(id)).isEqualTo(text);
        assertThat(app.bean(SampleApp.Payouts.class).inherited(id + "-p")).isEqualTo(payment);
        assertThat(runs()).isEqualTo(2);
    }
}
