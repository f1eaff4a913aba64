package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.hangUp;
import static dev.onlyonce.client.ScriptedServer.problem;
import static dev.onlyonce.client.ScriptedServer.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.CallResult.Done;
import dev.onlyonce.client.CallResult.InDoubt;
import dev.onlyonce.client.CallResult.Reason;
import dev.onlyonce.client.CallResult.Refused;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes with one journal, both of which go on with what is open. */
@DisplayName("A call that two senders send")
class SendersTest extends ScriptedCalls {
    private final List<CallResult> others = new ArrayList<>();

    /** A prepared call, which neither of the two has sent before. */
    private RetryingClient prepared() {
        RetryingClient client = client();
        try (Journal journal = openJournal(time)) {
            journal.begin(client.prepare(ID, request()));
        }
        return client;
    }

    /** While the server has a request of the one, the other resumes. */
    private ScriptedServer.Reply whileOtherResumes(ScriptedServer.Reply then) {
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        RetryingClient other = client(builder().policy(once));
        return out -> {
            others.add(other.resume(ID));
            then.to(out);
        };
    }

    private int recorded() {
        try (Journal journal = openJournal(time)) {
            CallResponse answer = journal.find(ID).orElseThrow().progress().answer();
            return answer == null ? 0 : answer.status();
        }
    }

    @Test
    @DisplayName("X5 is done, although the other got a bare 409 meanwhile")
    void bareConflict() throws Exception {
        RetryingClient client = prepared();
        server.then(whileOtherResumes(status(201, "{}"))).always(status(409, "{}"));
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(others).singleElement().isInstanceOf(InDoubt.class);
        assertThat(recorded()).isEqualTo(201);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 402, 404, 422})
    @DisplayName("X5 is done, although the other was refused by somebody who may not know")
    void refusedOther(int status) throws Exception {
        RetryingClient client = prepared();
        server.then(whileOtherResumes(status(201, "{}"))).always(status(status, "{}"));
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(others).singleElement().isInstanceOf(InDoubt.class);
        assertThat(recorded()).isEqualTo(201);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 401, 402, 404, 409, 422})
    @DisplayName("X5 stays in doubt when the first is refused, because the second may have had an effect")
    void refusedFirst(int status) throws Exception {
        RetryingClient client = prepared();
        server.then(whileOtherResumes(status(status, "{}"))).then(hangUp()).always(status(status, "{}"));
        InDoubt doubt = (InDoubt) client.resume(ID);
        assertThat(doubt.mayHaveHappened()).isTrue();
        assertThat(client.pending()).hasSize(1);
        server.always(status(201, "{}", "Idempotent-Replayed", "true"));
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("X5 is done in the end, also when the other had recorded a refusal")
    void doneWins() throws Exception {
        RetryingClient client = prepared();
        server.then(whileOtherResumes(status(201, "{}")))
                .then(status(402, "{}", "Idempotent-Replayed", "true"))
                .always(status(500, ""));
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(others).singleElement().isInstanceOf(Refused.class);
        assertThat(recorded()).isEqualTo(201);
    }

    @Test
    @DisplayName("X5 is done for the one that is refused, when the other has recorded that meanwhile")
    void doneMeanwhile() throws Exception {
        RetryingClient client = prepared();
        server.then(whileOtherResumes(status(404, "{}"))).then(status(201, "{}"));
        Done done = (Done) client.resume(ID);
        assertThat(done.response().status()).isEqualTo(201);
        assertThat(recorded()).isEqualTo(201);
    }

    private CallResult unreachableWhileOtherResumes() throws Exception {
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        RetryingClient other = client(builder().policy(once));
        RetryingClient client = client(builder().policy(once));
        try (Journal journal = openJournal(time)) {
            journal.begin(client.prepare(ID, request()));
        }
        return client.send(ID, request(), (request, timeout) -> {
            others.add(other.resume(ID));
            throw new ConnectException("refused");
        });
    }

    @Test
    @DisplayName("X5 may have happened for one that could send nothing, when the other is in doubt")
    void unreachableInDoubt() throws Exception {
        server.always(hangUp());
        InDoubt doubt = (InDoubt) unreachableWhileOtherResumes();
        assertThat(others).singleElement().isInstanceOf(InDoubt.class);
        assertThat(doubt.mayHaveHappened()).isTrue();
    }

    @Test
    @DisplayName("X5 is done for one that could send nothing, when the other has recorded that")
    void unreachableDone() throws Exception {
        server.always(status(201, "{}"));
        assertThat(unreachableWhileOtherResumes()).isInstanceOf(Done.class);
        assertThat(others).singleElement().isInstanceOf(Done.class);
    }

    @Test
    @DisplayName("X5 that was refused is not sent again when the server may have forgotten its key")
    void refusedLongAgo() throws Exception {
        server.then(status(401, ""));
        RetryingClient client = client();
        assertThat(client.send(ID, request())).isInstanceOf(Refused.class);
        time.advance(Duration.ofHours(25));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(1);
    }

    @Test
    @DisplayName("X5 is as old as its first sending, however often it was resumed")
    void ageOfFirst() throws Exception {
        server.always(hangUp());
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        client(builder().policy(once)).send(ID, request());
        time.advance(Duration.ofHours(20));
        client(builder().policy(once)).resume(ID);
        time.advance(Duration.ofHours(5));
        assertThat(((InDoubt) client().resume(ID)).reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(ints = {400, 402, 406, 410, 412, 416, 418, 422, 423, 424, 444, 499})
    @DisplayName("X5 that is refused after an attempt in doubt is refused only if the answer is marked")
    void refusedAfterDoubt(int status) throws Exception {
        server.then(hangUp()).then(status(status, "{}")).then(status(status, "{}"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.reason()).isEqualTo(Reason.NOT_TAKEN);
        assertThat(doubt.mayHaveHappened()).isTrue();
        server.then(status(status, "{}", "Idempotent-Replayed", "true"));
        assertThat(client().resume(ID)).isInstanceOf(Refused.class);
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("X5 that is refused after an attempt in doubt is asked for once more, which gets the recorded answer")
    void refusedBySecondAttempt() throws Exception {
        server.then(hangUp()).then(status(402, "{}")).then(status(402, "{}", "Idempotent-Replayed", "true"));
        assertThat(client().send(ID, request())).isInstanceOf(Refused.class);
        assertThat(server.received()).hasSize(3);
    }

    @Test
    @DisplayName("X5 that was executed is in doubt when the server finds the request too old")
    void timestampRejected() throws Exception {
        server.then(hangUp()).always(problem(400, "timestamp_rejected"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.mayHaveHappened()).isTrue();
        assertThat(keys()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {300, 301, 302, 303, 304})
    @DisplayName("X5 that is answered by a redirect to a page is neither done nor refused")
    void redirectedToPage(int status) throws Exception {
        server.always(status(status, "", "Location", "/login"));
        InDoubt doubt = (InDoubt) client().send(ID, request());
        assertThat(doubt.mayHaveHappened()).isTrue();
        assertThat(server.received()).hasSize(1);
    }

    @Test
    @DisplayName("X5 codes of ours count only in problems of ours: another API's operation_failed is a server error")
    void foreignCode() throws Exception {
        server.then(status(500, "{\"code\":\"operation_failed\"}"))
                .then(status(409, "{\"code\":\"response_not_stored\"}"));
        assertThat(client().send(ID, request())).isInstanceOf(Done.class);
        assertThat(server.received()).hasSize(3);
    }

    @Test
    @DisplayName("X5 a refusal that was not stored is a refusal in Stripe's format too")
    void notStoredInStripeFormat() throws Exception {
        server.always(status(
                409,
                "{\"error\":{\"code\":\"response_not_stored\",\"originalStatus\":402}}",
                "Idempotent-Replayed",
                "true",
                "Retry-After",
                "1"));
        assertThat(client().send(ID, request())).isInstanceOf(Refused.class);
    }

    @Test
    @DisplayName("X5 a clock that was set back does not make an old doubt look fresh")
    void clockSetBack() throws Exception {
        server.always(hangUp());
        RetryPolicy once = RetryPolicy.builder().attemptsMax(1).build();
        client(builder().policy(once)).send(ID, request());
        time.advance(Duration.ofHours(25));
        assertThat(((InDoubt) client().resume(ID)).reason()).isEqualTo(Reason.KEY_EXPIRED);
        time.jump(Duration.ofDays(-1));
        assertThat(((InDoubt) client().resume(ID)).reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(1);
        time.jump(Duration.ofDays(-1));
        assertThat(((InDoubt) client().resume(ID)).reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(1);
    }

    @Test
    @DisplayName("X5 a clock that is set back while a client runs does not make its own doubt look fresh")
    void clockSetBackWithin() throws Exception {
        server.always(hangUp());
        RetryingClient client =
                client(builder().policy(RetryPolicy.builder().attemptsMax(1).build()));
        client.send(ID, request());
        time.advance(Duration.ofHours(25));
        time.jump(Duration.ofDays(-1));
        assertThat(((InDoubt) client.resume(ID)).reason()).isEqualTo(Reason.KEY_EXPIRED);
        assertThat(server.received()).hasSize(1);
    }
}
