package dev.onlyonce.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.messages.adapter.CloudEvent;
import dev.onlyonce.sql.outbox.OutboxCall;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An outgoing message")
class OutgoingMessageTest {
    private static final byte[] BODY = "{}".getBytes(StandardCharsets.UTF_8);
    private static final byte[] KEY = {0, (byte) 0xff, 1};

    @Test
    @DisplayName("N5 is read from the outbox as it was accepted, and lasts until a worker takes it")
    void roundTrip() throws IOException {
        OutboxCall call = new OutgoingMessage("orders", KEY, "order.paid", "text/plain", BODY).call("kafka");
        assertThat(call.lasting()).isTrue();
        OutgoingMessage read = OutgoingMessage.of(call.payload());
        assertThat(read.destination()).isEqualTo("orders");
        assertThat(read.key()).isEqualTo(KEY);
        assertThat(read.type()).isEqualTo("order.paid");
        assertThat(read.contentType()).isEqualTo("text/plain");
        assertThat(read.body()).isEqualTo(BODY);
    }

    @Test
    @DisplayName("N5 has the order of its destination and key, and none without a key")
    void order() {
        String order = OutgoingMessage.json("orders", KEY, "order.paid", BODY)
                .call("kafka")
                .orderKey();
        assertThat(OutgoingMessage.json("orders", KEY, "order.sent", BODY)
                        .call("kafka")
                        .orderKey())
                .isEqualTo(order);
        assertThat(OutgoingMessage.json("others", KEY, "order.paid", BODY)
                        .call("kafka")
                        .orderKey())
                .isNotEqualTo(order);
        assertThat(OutgoingMessage.json("orders", null, "order.paid", BODY)
                        .call("kafka")
                        .orderKey())
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "order\npaid", "\u0000"})
    @DisplayName("N5 is refused before its transaction commits if its headers are no CloudEvents headers")
    void refused(String name) {
        assertThatThrownBy(() -> OutgoingMessage.json("orders", KEY, name, BODY))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new OutgoingMessage("orders", KEY, "order.paid", name, BODY))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> CloudEvent.source(name)).isInstanceOf(IllegalArgumentException.class);
    }
}
