package dev.onlyonce.http.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.Event;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Time;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The messages that consumers of a node have given up")
class GivenUpMessagesTest {
    private final Time time = Time.system();
    private final MemoryStore store = new MemoryStore(time);
    private final NodeWatch watch = new NodeWatch(time);
    private final Onlyonce once =
            Onlyonce.builder(store).time(time).listener(watch).build();
    private final LocalOperator operator =
            new LocalOperator(new AdminParts(once, store, Program.NONE, null, null, watch), "test", () -> {});

    @AfterEach
    void close() {
        once.close();
        time.close();
    }

    private void giveUp(String coordinates, String body) {
        watch.on(new Event.GivenUp(
                "books",
                "payments",
                coordinates,
                "rejected",
                "no such account\u0000",
                2,
                body.getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    @DisplayName("are shown with their reason, tries and payload, the latest first")
    void shown() {
        giveUp("0@7", "{\"amount\":1}");
        giveUp("0@8", "\u00e4");
        AdminOperator.DeadLetters list = operator.outboxList(0, 10);
        assertThat(list.messages())
                .extracting(AdminOperator.GivenUpMessage::coordinates)
                .containsExactly("0@8", "0@7");
        assertThat(list.messages().get(0).payload())
                .as("payloads are shown one by one")
                .isNull();
        AdminOperator.GivenUpMessage shown =
                operator.outboxMessage(list.messages().get(1).id());
        assertThat(shown.payload()).isEqualTo("{\"amount\":1}");
        assertThat(shown.text()).isEqualTo("no such account ");
        assertThat(shown.tries()).isEqualTo(2);
        assertThat(shown.cut()).isNull();
    }

    @Test
    @DisplayName("O2 hide their payload from those who may not see it")
    void hidden() {
        giveUp("0@7", "secret");
        AdminOperator.GivenUpMessage shown = operator.as(new Caller("rita", Caller.Role.READER, false, false))
                .outboxMessage(1);
        assertThat(shown.payload()).isNull();
        assertThat(shown.payloadBase64()).isNull();
        assertThat(shown.hidden()).isEqualTo(Payload.HIDDEN);
        assertThat(shown.payloadBytes()).isEqualTo(6);
    }

    @Test
    @DisplayName("are bounded in number and in size")
    void bounded() {
        for (int i = 0; i < 1000; i++) {
            giveUp("0@" + i, "x".repeat(100_000));
        }
        assertThat(operator.outboxList(0, 10).messages()).hasSize(200);
        AdminOperator.GivenUpMessage shown = operator.outboxMessage(1000);
        assertThat(shown.payload()).hasSize(16 << 10);
        assertThat(shown.cut()).isTrue();
        assertThat(shown.payloadBytes()).isEqualTo(100_000);
        assertThatThrownBy(() -> operator.outboxMessage(800))
                .isInstanceOfSatisfying(
                        AdminOperator.Refused.class,
                        e -> assertThat(e.isAbsent()).isTrue());
    }

    @Test
    @DisplayName("are cut so that text stays text")
    void cutInACharacter() {
        giveUp("0@1", "a" + "\u00e4".repeat(10_000));
        assertThat(operator.outboxMessage(1).payload()).startsWith("a\u00e4").hasSize(8192);
    }
}
