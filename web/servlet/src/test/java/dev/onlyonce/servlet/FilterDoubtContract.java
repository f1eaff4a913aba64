package dev.onlyonce.servlet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.store.State;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the filter makes of handlers that fail, hang or break, in every container. Nothing here may run twice. */
abstract class FilterDoubtContract {

    abstract String newKey();

    abstract HttpResponse<byte[]> post(String path, String key) throws Exception;

    /** The state when the entry is no longer running. */
    abstract State settledState(String key);

    abstract int effects(String key);

    private void assertUnknown(String path, String key) throws Exception {
        assertThat(settledState(key)).isEqualTo(State.UNKNOWN);
        HttpResponse<byte[]> retry = post(path, key);
        assertThat(retry.statusCode()).isEqualTo(409);
        assertThat(new String(retry.body(), StandardCharsets.UTF_8)).contains("outcome_unknown");
        assertThat(effects(key)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/async-timeout", "/late?status=503", "/stripe/late?status=503", "/late-dispatch?status=503"})
    @DisplayName("D4 asynchronous work that does not answer in time leaves the outcome unknown")
    void asyncTimeout(String path) throws Exception {
        String key = newKey();
        HttpResponse<byte[]> first = post(path, key);
        assertThat(first.statusCode()).isGreaterThanOrEqualTo(500);
        assertThat(first.body()).isNotEmpty();
        assertUnknown(path, key);
    }

    @ParameterizedTest
    @CsvSource({"/late,401", "/late,408", "/late,429", "/late-dispatch,429", "/stripe/late,429", "/late-large,429"})
    @DisplayName("D10 a time-out is doubt whatever status its handler answers: the key is not free while work goes on")
    void answeredTimeout(String path, int status) throws Exception {
        String key = newKey();
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(504);
        assertUnknown(path + "?status=" + status, key);
    }

    @ParameterizedTest
    @CsvSource({"/late,202", "/late,404"})
    @DisplayName("D10 an answer to a time-out that is stored is replayed, and nothing runs again")
    void storedTimeout(String path, int status) throws Exception {
        String key = newKey();
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(status);
        assertThat(settledState(key)).isEqualTo(State.COMPLETED);
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(status);
        assertThat(effects(key)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/throw?what=runtime", "/throw?what=io", "/throw?what=error", "/throw-async?what=error"})
    @DisplayName("R2 an exception or an Error that leaves the handler proves nothing: unknown")
    void exceptions(String path) throws Exception {
        String key = newKey();
        assertThat(post(path, key).statusCode()).isEqualTo(500);
        assertUnknown(path, key);
    }

    @ParameterizedTest
    @ValueSource(ints = {200, 500, 503})
    @DisplayName("R2 what a framework answers for an exception by itself proves nothing, a success neither: unknown")
    void madeUp(int status) throws Exception {
        String key = newKey();
        assertThat(post("/made-up?status=" + status, key).statusCode()).isEqualTo(Math.max(status, 500));
        assertUnknown("/made-up?status=" + status, key);
    }

    @ParameterizedTest
    @CsvSource({"/made-up,404,404", "/stripe/made-up,200,500", "/stripe/made-up,503,503"})
    @DisplayName("R2 a refusal that a framework makes of an exception is recorded; in the profile stripe an error too")
    void madeUpRefusal(String path, int status, int recorded) throws Exception {
        String key = newKey();
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(recorded);
        assertThat(settledState(key)).isEqualTo(State.COMPLETED);
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(recorded);
        assertThat(effects(key)).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"/advised,500,500", "/advised,503,503", "/unsendable,200,500", "/unsendable,406,500"})
    @DisplayName("D18 R2 an exception that is answered with a 5xx, or that hides a result, proves nothing: unknown")
    void advised(String path, int status, int sent) throws Exception {
        String key = newKey();
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(sent);
        assertUnknown(path + "?status=" + status, key);
    }

    @ParameterizedTest
    @CsvSource({"/advised,404", "/advised,200", "/stripe/advised,500"})
    @DisplayName(
            "D18 R2 an exception that the application answers below 500 is recorded; in the profile stripe a 5xx too")
    void advisedRefusal(String path, int status) throws Exception {
        String key = newKey();
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(status);
        assertThat(settledState(key)).isEqualTo(State.COMPLETED);
        assertThat(post(path + "?status=" + status, key).statusCode()).isEqualTo(status);
        assertThat(effects(key)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 429})
    @DisplayName("R2 a status that the handler sets after it has flushed its response does not free the key")
    void statusAfterFlush(int status) throws Exception {
        String key = newKey();
        assertThat(post("/flushed?status=" + status, key).statusCode()).isEqualTo(201);
        assertThat(settledState(key)).isEqualTo(State.COMPLETED);
        assertThat(post("/flushed?status=" + status, key).statusCode()).isEqualTo(201);
        assertThat(effects(key)).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "R2 an error that the handler sends after it has flushed its response is an exception, as in containers")
    void errorAfterFlush() throws Exception {
        String key = newKey();
        assertThat(post("/flushed-error?status=503", key).statusCode()).isEqualTo(500);
        assertUnknown("/flushed-error?status=503", key);
    }

    @ParameterizedTest
    @ValueSource(ints = {502, 504})
    @DisplayName("R2 a 502 or 504 that the handler answers is handed on, and leaves the outcome unknown")
    void badGateway(int status) throws Exception {
        String key = newKey();
        assertThat(post("/status?status=" + status, key).statusCode()).isEqualTo(status);
        assertUnknown("/status?status=" + status, key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"runtime", "io", "error"})
    @DisplayName("D12 an error page that breaks does not keep the claim: the status is recorded with a short document")
    void brokenPage(String how) throws Exception {
        String key = newKey();
        HttpResponse<byte[]> first = post("/not-found?page=" + how, key);
        assertThat(first.statusCode()).isEqualTo(404);
        assertThat(settledState(key)).isEqualTo(State.COMPLETED);
        HttpResponse<byte[]> replay = post("/not-found?page=" + how, key);
        assertThat(replay.statusCode()).isEqualTo(404);
        assertThat(replay.body()).isEqualTo(first.body());
        assertThat(effects(key)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"runtime", "io", "error"})
    @DisplayName("D12 in the profile stripe the page for an exception may break too: 500 is recorded and replayed")
    void brokenExceptionPage(String how) throws Exception {
        String key = newKey();
        assertThat(post("/stripe/throw?what=runtime&page=" + how, key).statusCode())
                .isEqualTo(500);
        assertThat(settledState(key)).isEqualTo(State.COMPLETED);
        assertThat(post("/stripe/throw?what=runtime&page=" + how, key).statusCode())
                .isEqualTo(500);
        assertThat(effects(key)).isEqualTo(1);
    }
}
