package dev.onlyonce.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The id of a message")
class MessageIdTest {
    private static ReceivedMessage message(String body, String... headers) {
        List<MessageHeader> list = new ArrayList<>();
        for (int i = 0; i < headers.length; i += 2) {
            list.add(new MessageHeader(headers[i], headers[i + 1].getBytes(StandardCharsets.UTF_8)));
        }
        return new ReceivedMessage("orders", "0-17", list, body.getBytes(StandardCharsets.UTF_8));
    }

    private static void gives(DeadLetterReason reason, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        PoisonMessage.class, e -> assertThat(e.reason()).isEqualTo(reason));
    }

    @Test
    @DisplayName("is found in headers, in CloudEvents, in the body, or is the coordinates")
    void sources() {
        assertThat(MessageId.header("id").require(message("", "id", "first", "id", "last")))
                .isEqualTo(new MessageIdentity("orders", "last"));
        assertThat(MessageId.cloudEvent().require(message("", "ce_id", "7", "ce_source", "/shop")))
                .isEqualTo(new MessageIdentity("/shop", "7"));
        assertThat(MessageId.cloudEvent().require(message("", "cloudEvents:id", "7", "cloudEvents:source", "/shop")))
                .isEqualTo(new MessageIdentity("/shop", "7"));
        assertThat(MessageId.cloudEvent().require(message("", "cloudEvents_id", "7", "cloudEvents_source", "/shop")))
                .isEqualTo(new MessageIdentity("/shop", "7"));
        assertThat(MessageId.cloudEvent()
                        .require(message(
                                "{\"data\":{\"id\":1},\"id\":\"7\",\"source\":\"/shop\"}",
                                "content-type",
                                "application/CloudEvents+json; charset=utf-8")))
                .isEqualTo(new MessageIdentity("/shop", "7"));
        assertThat(MessageId.json("/order/id").require(message("{\"order\":{\"id\":42}}")))
                .isEqualTo(new MessageIdentity("orders", "42"));
        assertThat(MessageId.header("id").orElse(MessageId.coordinates()).require(message("")))
                .isEqualTo(new MessageIdentity("orders", "0-17"));
    }

    @Test
    @DisplayName("that is missing or cannot be used is refused with a reason")
    void refused() {
        gives(DeadLetterReason.MISSING_ID, () -> MessageId.cloudEvent().require(message("")));
        gives(DeadLetterReason.MISSING_ID, () -> MessageId.json("/id").require(message("{\"id\":null}")));
        gives(DeadLetterReason.MISSING_ID, () -> MessageId.json("/id").require(message("{\"id\":{\"a\":1}}")));
        gives(DeadLetterReason.MISSING_ID, () -> MessageId.json("/id").require(message("[]")));
        gives(DeadLetterReason.UNDECODABLE, () -> MessageId.json("/id").require(message("{\"a")));
        gives(DeadLetterReason.MALFORMED_ID, () -> MessageId.header("id").require(message("", "id", "")));
        gives(DeadLetterReason.MALFORMED_ID, () -> MessageId.header("id").require(message("", "id", "x".repeat(256))));
        gives(DeadLetterReason.MALFORMED_ID, () -> MessageId.header("id").require(message("", "id", "a\tb")));
        gives(DeadLetterReason.MALFORMED_ID, () -> new MessageIdentity("a\u0000b", "1").source("group"));
        assertThatThrownBy(() -> MessageId.json("no pointer")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("is unique within producer and group, however they are spelled")
    void scope() {
        assertThat(new MessageIdentity("b/c", "1").source("a"))
                .isNotEqualTo(new MessageIdentity("c", "1").source("a/b"));
        assertThat(new MessageIdentity("c", "1").source("a/b"))
                .isNotEqualTo(new MessageIdentity("c", "1").source("a%2Fb"));
        String long1 = new MessageIdentity("p".repeat(300) + 1, "1").source("group");
        assertThat(long1)
                .hasSizeLessThanOrEqualTo(255)
                .isNotEqualTo(new MessageIdentity("p".repeat(300) + 2, "1").source("group"));
    }

    @Test
    @DisplayName("does not matter for the pauses between tries: they grow, with jitter, up to a bound")
    void pauses() {
        RetryLimits limits = new RetryLimits(3, Duration.ofMillis(100), Duration.ofMillis(350), Duration.ofSeconds(10));
        for (int i = 0; i < 100; i++) {
            assertThat(limits.pause(1)).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
            assertThat(limits.pause(2)).isBetween(Duration.ofMillis(100), Duration.ofMillis(200));
            assertThat(limits.pause(1000)).isBetween(Duration.ofMillis(175), Duration.ofMillis(350));
        }
        assertThat(limits.isOver(2, Duration.ofSeconds(9))).isFalse();
        assertThat(limits.isOver(3, Duration.ZERO)).isTrue();
        assertThat(limits.isOver(1, Duration.ofSeconds(10))).isTrue();
        assertThatThrownBy(() -> new RetryLimits(0, Duration.ZERO, Duration.ZERO, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
