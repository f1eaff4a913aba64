package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Requests that come while another one with the same key runs. */
interface RunningPart extends Part {

    @Test
    @DisplayName("C1 of sixteen identical POSTs at once one runs; each gets its answer, or 409 with Retry-After")
    default void atOnce() {
        for (int round = 0; round < 5; round++) {
            Call call = call("/ietf/echo");
            List<CompletableFuture<Answer>> sent = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                sent.add(call.begin());
            }
            List<Answer> answers = sent.stream().map(Client::join).toList();
            Answer first = answers.stream()
                    .filter(answer -> answer.status() == 201)
                    .filter(Predicate.not(Answer::isReplay))
                    .findFirst()
                    .orElseThrow();
            for (Answer answer : answers) {
                if (answer.isReplay()) {
                    answer.assertReplayOf(first);
                } else if (answer.status() != 201) {
                    answer.assertProblem(409, "in_progress");
                }
            }
            assertThat(answers.stream().filter(answer -> answer.status() == 201 && !answer.isReplay()))
                    .hasSize(1);
            assertThat(call.effects()).isEqualTo(1);
            call.send().assertReplayOf(first);
        }
    }

    @Test
    @DisplayName(
            "C3 a duplicate of a running request gets 409 with Retry-After, and does not change what becomes of it")
    default void conflict() {
        Call call = call("/ietf/gate");
        CompletableFuture<Answer> running = call.beginAndEnter();
        call.send().assertProblem(409, "in_progress");
        call.send().assertProblem(409, "in_progress");
        call.openGate();
        Answer first = Client.join(running);
        assertThat(first.text()).isEqualTo("done");
        call.send().assertReplayOf(first);
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("C3 or 202 with Retry-After and a Location that tells the status")
    default void accepted() {
        Call call = call("/accepted/gate");
        CompletableFuture<Answer> running = call.beginAndEnter();
        Answer duplicate = call.send();
        assertThat(duplicate.status()).isEqualTo(202);
        assertThat(duplicate.header("Retry-After")).matches("[1-9][0-9]*");
        Call poll = call.path(String.valueOf(duplicate.header("Location"))).method("GET");
        assertThat(poll.send().text()).contains("\"state\":\"processing\"");
        call.openGate();
        Answer first = Client.join(running);
        assertThat(poll.send().text()).contains("\"state\":\"completed\"");
        call.send().assertReplayOf(first);
    }

    @Test
    @DisplayName("C3 or waits, and gets the answer of the first")
    default void waiting() {
        Call call = call("/waiting/gate");
        CompletableFuture<Answer> running = call.beginAndEnter();
        CompletableFuture<Answer> duplicate = call.begin();
        call.json("{}").send().assertProblem(422, "key_reused");
        assertThat(duplicate).isNotDone();
        call.openGate();
        Client.join(duplicate).assertReplayOf(Client.join(running));
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("D3 a handler slower than its lease keeps it by heartbeats, and its answer is recorded")
    default void slowerThanLease() {
        Call call = call("/lease/gate");
        CompletableFuture<Answer> running = call.beginAndEnter();
        long begun = System.nanoTime();
        Client.await("the lease would have ended", () -> {
            call.send().assertProblem(409, "in_progress");
            return System.nanoTime() - begun > Duration.ofMillis(2500).toNanos();
        });
        call.openGate();
        Answer first = Client.join(running);
        assertThat(first.status()).isEqualTo(201);
        call.send().assertReplayOf(first);
        assertThat(call.effects()).isEqualTo(1);
    }

    @Test
    @DisplayName("A client that hangs up does not stop the execution")
    default void hangUp() {
        Call call = call("/ietf/gate");
        CompletableFuture<Answer> running = call.beginAndEnter();
        running.cancel(true);
        call.openGate();
        Client.await("the answer is recorded", () -> call.send().isReplay());
        assertThat(call.send().text()).isEqualTo("done");
        assertThat(call.effects()).isEqualTo(1);
    }
}
