package dev.onlyonce.testkit.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Retention, tombstones and the age of requests. */
interface TimePart extends Part {

    @Test
    @DisplayName("T1 the expiry is an HTTP date, 24 hours after settling by default")
    default void expiry() {
        Answer answer = call("/ietf/echo").send();
        String expires = String.valueOf(answer.header("Idempotency-Key-Expires"));
        Instant parsed = ZonedDateTime.parse(expires, DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT))
                .toInstant();
        String date = answer.header("Date");
        if (date != null) {
            Instant now = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT))
                    .toInstant();
            assertThat(Duration.between(now, parsed)).isBetween(Duration.ofHours(23), Duration.ofHours(25));
        }
    }

    @Test
    @DisplayName("T2 after retention a key runs as new")
    default void retention() {
        Call call = call("/retention/echo");
        call.send();
        Client.await("retention is over", () -> !call.send().isReplay());
        assertThat(call.effects()).isEqualTo(2);
    }

    @Test
    @DisplayName(
            "T2 after retention a key is refused with 410 while its tombstone stands; stripe has none and runs it as new")
    default void tombstone() {
        List<Call> kept = List.of(call("/tombstone/echo"), call("/strict-tombstone/echo"));
        Call stripe = call("/stripe-tombstone/echo");
        kept.forEach(Call::send);
        stripe.send();
        for (Call call : kept) {
            Client.await("retention is over", () -> call.send().status() == 410);
            call.send().assertProblem(410, "key_expired");
            call.json("{}").send().assertProblem(422, "key_reused");
            assertThat(call.effects()).isEqualTo(1);
        }
        Client.await("retention is over", () -> !stripe.send().isReplay());
        assertThat(stripe.effects()).isEqualTo(2);
    }

    @Test
    @DisplayName("T2 a request that says that it is too old is refused where so configured")
    default void age() {
        Call call = call("/timestamp/echo");
        call.send().assertProblem(400, "timestamp_missing");
        call.header("X-Made", "Thu, 01 Jan 1970 00:00:00 GMT").send().assertProblem(400, "timestamp_rejected");
        assertThat(call.effects()).isZero();
        Answer dated = client().get("/effects/none");
        Call now = call.header("X-Made", String.valueOf(dated.header("Date")));
        Answer first = now.send();
        assertThat(first.status()).isEqualTo(201);
        now.send().assertReplayOf(first);
    }

    @Test
    @DisplayName(
            "T2 D4 a retry that has become too old is answered all the same: only new keys are refused for their age")
    default void oldRetry() {
        Answer dated = client().get("/effects/none");
        String now = String.valueOf(dated.header("Date"));
        // Old enough to be refused in a moment.
        Instant made = ZonedDateTime.parse(now, DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT))
                .toInstant()
                .minus(Duration.ofHours(1))
                .plusSeconds(4);
        Call call = call("/timestamp/echo").header("X-Made", made.toString());
        Answer first = call.send();
        assertThat(first.status()).isEqualTo(201);
        Client.await(
                "the request is too old for a new key",
                () -> call("/timestamp/echo")
                                .header("X-Made", made.toString())
                                .send()
                                .status()
                        == 400);
        call.send().assertReplayOf(first);
        call.json("{}").send().assertProblem(422, "key_reused");
        assertThat(call.effects()).isEqualTo(1);
    }
}
