package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** First answers, replays, and their headers. */
interface AnswerPart extends Part {

    @Test
    @DisplayName("R1 a replay has status, headers and bytes of the first answer, is marked, and executes nothing")
    default void replay() {
        Call call = call("/ietf/echo");
        Answer first = call.send();
        assertThat(first.status()).isEqualTo(201);
        assertThat(first.text()).startsWith("{\"run\":1,");
        assertThat(first.headerLines("X-Several")).containsExactly("one", "two");
        for (int i = 0; i < 3; i++) {
            call.send().assertReplayOf(first);
        }
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("R1 a kept connection carries a first request, its replay, a mismatch and the next requests")
    default void keptConnection() {
        Call call = call("/ietf/echo");
        Call next = call("/ietf/echo").inChunks();
        List<Answer> answers = Client.onOneConnection(call, call, call.json("{\"amount\":11}"), next, next, call);
        assertThat(answers).extracting(Answer::status).containsExactly(201, 201, 422, 201, 201, 201);
        answers.get(1).assertReplayOf(answers.get(0));
        answers.get(4).assertReplayOf(answers.get(3));
        answers.get(5).assertReplayOf(answers.get(0));
        assertThat(call.effects()).isEqualTo(1);
        assertThat(next.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("R6 the stored answer is what was answered then, whatever has become of the resource since")
    default void laterChanges() {
        Call call = call("/ietf/echo");
        Answer first = call.send();
        assertThat(call.keys(call.key() + "-later").send().text()).startsWith("{\"run\":2,");
        assertThat(call.method("PUT").send().text()).startsWith("{\"run\":3,");
        call.send().assertReplayOf(first);
        assertThat(first.text()).startsWith("{\"run\":1,");
        assertThat(call.effects()).isEqualTo(3);
    }

    @Test
    @DisplayName("R4 cookies and trace headers are sent once and never stored; a replay has a date of its own")
    default void headersNotStored() {
        Call call = call("/ietf/echo");
        Answer first = call.send();
        assertThat(first.header("Set-Cookie")).startsWith("session=secret");
        assertThat(first.header("traceparent")).isEqualTo("00-1");
        Answer replay = call.send();
        replay.assertReplayOf(first);
        assertThat(replay.header("Set-Cookie")).isNull();
        assertThat(replay.header("traceparent")).isNull();
        assertThat(replay.headerLines("Date").size()).isLessThanOrEqualTo(1);
    }

    @Test
    @DisplayName("R5 a response of 2 MiB is delivered; the retry gets 409 with the original Location and never runs")
    default void large() {
        Call call = call("/ietf/large");
        Answer first = call.send();
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.body()).hasSize(2 << 20).containsOnly('x');
        Answer retry = call.send().assertProblem(409, "response_not_stored");
        assertThat(retry.header("Location")).isEqualTo("/things/1");
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName(
            "A chunked request body without Content-Length reaches the handler and is the same request as one with")
    default void chunked() {
        Call call = call("/ietf/echo").json("{\"chunked\":true}");
        Answer first = call.inChunks().send();
        String received = Base64.getEncoder().encodeToString("{\"chunked\":true}".getBytes(StandardCharsets.UTF_8));
        assertThat(first.text()).isEqualTo("{\"run\":1,\"received\":\"" + received + "\"}");
        call.send().assertReplayOf(first);
    }

    @Test
    @DisplayName("Form parameters reach the handler, and forms are compared by their values")
    default void form() {
        Call call = call("/ietf/form").body("application/x-www-form-urlencoded", "a=1&b=K%C3%A4se");
        Answer first = call.send();
        assertThat(first.text()).isEqualTo("1,Käse");
        call.body("application/x-www-form-urlencoded", "a=1&b=K%c3%a4se").send().assertReplayOf(first);
        call.body("application/x-www-form-urlencoded", "a=2&b=K%C3%A4se").send().assertProblem(422, "key_reused");
    }

    @Test
    @DisplayName("A caller learns what became of its own key")
    default void status() {
        Call call = call("/ietf/echo");
        Call ask = call.path("/.well-known/idempotency/status").method("GET");
        ask.send().assertProblem(404, "key_unknown");
        call.send();
        Answer status = ask.send();
        assertThat(status.status()).isEqualTo(200);
        assertThat(status.text())
                .contains("\"operation\":\"POST /ietf/echo\"")
                .contains("\"state\":\"completed\"")
                .contains("\"responseStatus\":201")
                .contains("\"location\":\"/things/1\"");
        Answer head = ask.method("HEAD").send();
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.header("Content-Length")).isEqualTo(status.header("Content-Length"));
        assertThat(head.text()).isEmpty();
    }

    @Test
    @DisplayName("The specification names every operation with its scope, retention and status codes")
    default void specification() {
        Answer specification = client().get("/.well-known/idempotency");
        assertThat(specification.status()).isEqualTo(200);
        assertThat(specification.header("Content-Type")).startsWith("application/json");
        assertThat(specification.text())
                .contains("\"name\":\"POST /ietf/echo\"")
                .contains("\"name\":\"POST /stripe/echo\"")
                .contains("\"scope\":\"operation\"")
                .contains("\"retentionSeconds\":86400")
                .contains("\"key_reused\":422")
                .contains("\"key_reused\":400");
    }
}
