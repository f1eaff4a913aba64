package dev.onlyonce.amqp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.GetResponse;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageCounts;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import dev.onlyonce.sql.SqlStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("An AMQP consumer")
class AmqpInboxTest {
    private static final RetryLimits QUICK =
            new RetryLimits(3, Duration.ofMillis(50), Duration.ofMillis(200), Duration.ofSeconds(60));
    private static final AMQP.BasicProperties.Builder PLAIN = new AMQP.BasicProperties.Builder();

    private Broker broker;
    private Ledger ledger;
    private String queue;

    /** The broker of these tests. */
    Broker broker() {
        return Broker.qpid();
    }

    @BeforeEach
    void open() throws Exception {
        broker = broker();
        ledger = new Ledger();
        queue = broker.queue();
    }

    @AfterEach
    void close() {
        ledger.close();
    }

    private AmqpInbox.Builder<String> builder(String from) {
        return AmqpInbox.builder(ledger.once, broker.factory(), Ledger::text)
                .queue(from)
                .id(MessageId.header("message-id").orElse(MessageId.header("id")))
                .orderBy("key")
                .retries(QUICK);
    }

    private AmqpInbox.Builder<String> builder() {
        return builder(queue);
    }

    private List<GetResponse> dead(int messages) {
        return broker.read(queue + ".dead", messages);
    }

    private static List<String> reasons(List<GetResponse> dead) {
        return dead.stream()
                .map(message -> Broker.header(message, "onlyonce-dead-reason"))
                .toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    @DisplayName("N4 applies each message once and in order, however often it is sent")
    void once() {
        for (int i = 0; i < 200; i++) {
            broker.send(queue, "key" + i % 4, "id" + i, "key" + i % 4 + ":" + i);
            if (i % 3 == 0) {
                broker.send(queue, "key" + i % 4, "id" + i, "key" + i % 4 + ":" + i);
            }
        }
        broker.flush();
        try (AmqpInbox inbox = builder().transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() + inbox.counts().repeated() == 267);
            assertThat(inbox.counts()).isEqualTo(new MessageCounts(200, 67, 0, 0, 0));
        }
        List<String> effects = ledger.effects();
        assertThat(effects).hasSize(200).doesNotHaveDuplicates();
        for (int k = 0; k < 4; k++) {
            String key = "key" + k + ":";
            assertThat(effects.stream()
                            .filter(body -> body.startsWith(key))
                            .map(body -> Integer.parseInt(body.substring(key.length()))))
                    .isSorted()
                    .hasSize(50);
        }
        // All were acknowledged: a new consumer gets the new message alone.
        broker.send(queue, "key0", "last", "last");
        broker.flush();
        try (AmqpInbox inbox = builder().transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 1);
            assertThat(inbox.counts().repeated()).isZero();
        }
        // Another queue is another group, and applies all for itself.
        String other = broker.queue();
        broker.send(other, "key0", "last", "last");
        broker.flush();
        try (AmqpInbox inbox = builder(other).transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 1);
        }
        assertThat(ledger.effects()).hasSize(202);
    }

    @Test
    @DisplayName("N4 gives up a known id with another body, and what cannot be decoded, at once")
    void mismatchAndPoison() {
        broker.send(queue, "k", "a", "1");
        broker.send(queue, "k", "a", "2");
        broker.send(queue, "k", "b", "undecodable");
        broker.send(queue, "k", "c", "rejected");
        broker.send(queue, "k", "d", "4");
        broker.flush();
        AmqpInbox.Builder<String> builder = AmqpInbox.builder(ledger.once, broker.factory(), message -> {
                    String body = Ledger.text(message);
                    if (body.equals("undecodable")) {
                        throw new IllegalStateException("not\nvalid");
                    }
                    return body;
                })
                .queue(queue)
                .group("billing")
                .id(MessageId.header("message-id"))
                .retries(QUICK);
        try (AmqpInbox inbox = builder.transactional((c, body, message) -> {
            if (body.equals("rejected")) {
                throw new PoisonMessage("no such account");
            }
            Ledger.write(c, body);
        })) {
            inbox.start();
            List<GetResponse> dead = dead(3);
            assertThat(reasons(dead)).containsExactlyInAnyOrder("mismatch", "undecodable", "rejected");
            GetResponse undecodable = dead.stream()
                    .filter(message -> new String(message.getBody(), StandardCharsets.UTF_8).equals("undecodable"))
                    .findFirst()
                    .orElseThrow();
            assertThat(undecodable.getProps().getMessageId()).isEqualTo("b");
            assertThat(Broker.header(undecodable, "key")).isEqualTo("k");
            assertThat(Broker.header(undecodable, "onlyonce-dead-text")).contains("not valid");
            assertThat(Broker.header(undecodable, "onlyonce-dead-group")).isEqualTo("billing");
            assertThat(Broker.header(undecodable, "onlyonce-dead-topic")).isEqualTo(queue);
            assertThat(Broker.header(undecodable, "onlyonce-dead-routing-key")).isEqualTo(queue);
            Broker.until(() -> inbox.counts().applied() == 2);
            Broker.until(() -> inbox.counts().dead() == 3);
        }
        assertThat(ledger.effects()).containsExactly("1", "4");
        broker.untilEmpty(queue);
    }

    /** The id in the header of a dead letter, or its property. */
    private static String idOf(GetResponse dead) {
        String header = Broker.header(dead, "id");
        return header == null ? "property " + dead.getProps().getMessageId() : header;
    }

    @Test
    @DisplayName("N4 gives up bad input with a reason, and goes on with the next message")
    void badInput() {
        broker.publish(queue, PLAIN, bytes("x"));
        broker.send(queue, bytes("i".repeat(10_000)), bytes("x"));
        broker.send(queue, bytes("large"), new byte[10 << 20]);
        broker.send(queue, new byte[] {(byte) 0xc3, 0x28}, bytes("x"));
        broker.send(queue, bytes("con\u0007trol"), bytes("x"));
        broker.send(queue, "k", "", "x");
        broker.send(queue, "k", "good", "good");
        broker.flush();
        try (AmqpInbox inbox = builder().transactional((c, text, message) -> Ledger.write(c, text))) {
            inbox.start();
            // A broker that is slow to confirm the large one gets it again.
            Map<String, GetResponse> dead = new HashMap<>();
            Broker.until(() -> {
                broker.readAll(queue + ".dead").forEach(each -> dead.put(idOf(each), each));
                return dead.size() >= 6;
            });
            assertThat(reasons(List.copyOf(dead.values())))
                    .containsExactlyInAnyOrder(
                            "missing_id", "malformed_id", "too_large", "undecodable", "malformed_id", "malformed_id");
            assertThat(dead.get("large").getBody()).hasSize(10 << 20);
            Broker.until(() -> inbox.counts().applied() == 1);
        }
        assertThat(ledger.effects()).containsExactly("good");
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("publishes dead letters that the broker takes, whatever their properties")
    void properties() {
        Map<String, Object> headers = Map.of("CC", List.of(queue), "number", 7, "flag", true, "list", List.of("a", 1));
        broker.publish(
                queue,
                new AMQP.BasicProperties.Builder()
                        .messageId("m")
                        .userId("guest")
                        .headers(headers),
                bytes("x"));
        broker.flush();
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        try (AmqpInbox inbox = builder().transactional((c, text, message) -> {
            seen.add(message.header("number").orElse("?"));
            seen.add(message.header("flag").orElse("?"));
            seen.add(message.header("user-id").orElse("?"));
            seen.add(message.header("routing-key").orElse("?"));
            throw new PoisonMessage("no");
        })) {
            inbox.start();
            GetResponse dead = dead(1).get(0);
            assertThat(Broker.header(dead, "number")).isEqualTo("7");
            assertThat(Broker.header(dead, "CC")).isNull();
            assertThat(dead.getProps().getUserId()).isNull();
            Broker.until(() -> inbox.counts().dead() >= 1);
        }
        assertThat(seen).startsWith("7", "true", "guest", queue);
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("N4 tries a message that fails again, keeps its key in order, and lets the others pass")
    void retries() {
        broker.send(queue, "a", "1", "a1");
        broker.send(queue, "b", "2", "b1");
        broker.send(queue, "a", "3", "a2");
        broker.send(queue, "b", "4", "b2");
        broker.send(queue, "b", "5", "b3");
        broker.flush();
        AtomicInteger failures = new AtomicInteger();
        try (AmqpInbox inbox = builder().transactional((c, body, message) -> {
            Ledger.write(c, body);
            // A batch that fails is run twice: once together, and once one by one.
            if (body.equals("a1") && failures.incrementAndGet() <= 3) {
                throw new IllegalStateException("not yet");
            }
            if (body.equals("b2")) {
                throw new IllegalStateException("never");
            }
        })) {
            inbox.start();
            List<GetResponse> dead = dead(1);
            assertThat(reasons(dead)).containsExactly("tries_exhausted");
            assertThat(Broker.header(dead.get(0), "onlyonce-dead-tries")).isEqualTo("3");
            Broker.until(() -> inbox.counts().applied() == 4);
            assertThat(inbox.counts().retried()).isGreaterThanOrEqualTo(3);
        }
        List<String> effects = ledger.effects();
        assertThat(effects).containsExactlyInAnyOrder("a1", "a2", "b1", "b3");
        assertThat(effects.indexOf("a1")).isLessThan(effects.indexOf("a2"));
        assertThat(effects.indexOf("b1")).isLessThan(effects.indexOf("b3"));
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("N4 keeps a message until its dead letter is there, and meanwhile goes on")
    void deadLettersMissing() {
        String later = "later" + queue;
        broker.send(queue, "a", "1", "poison");
        broker.send(queue, "a", "2", "fine");
        broker.flush();
        try (AmqpInbox inbox = builder().deadLetterTo(later).transactional((c, body, message) -> {
            if (body.equals("poison")) {
                throw new PoisonMessage("no");
            }
            Ledger.write(c, body);
        })) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 1);
            assertThat(inbox.counts().dead()).isZero();
            broker.declare(later);
            assertThat(reasons(broker.read(later, 1))).containsExactly("rejected");
            Broker.until(() -> inbox.counts().dead() == 1);
        }
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("N4 with effects outside the database applies at most once, and an unknown outcome blocks nobody")
    void leased() {
        broker.send(queue, "a", "1", "retry");
        broker.send(queue, "a", "2", "unknown");
        broker.send(queue, "a", "3", "fine");
        broker.send(queue, "a", "3", "fine");
        broker.send(queue, "a", "3", "other");
        broker.flush();
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        try (AmqpInbox inbox = builder().leased("ship", (claim, body, message) -> {
            calls.add(body);
            if (body.equals("retry") && calls.size() == 1) {
                throw new NotExecuted("the line was busy");
            }
            if (body.equals("unknown")) {
                throw new IllegalStateException("the line went dead");
            }
        })) {
            inbox.start();
            // Nobody would deliver it again if the reconciler found that nothing happened.
            assertThat(reasons(dead(2))).containsExactlyInAnyOrder("outcome_unknown", "mismatch");
            Broker.until(() -> inbox.counts().applied() == 2);
            Broker.until(() -> inbox.counts().dead() == 2);
        }
        assertThat(calls).containsExactly("retry", "retry", "unknown", "fine");
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("N4 counts the tries of a handler that takes longer than any silence, and gives up")
    void slowFailures() {
        broker.send(queue, "a", "1", "slow");
        broker.flush();
        try (ShiftedTime time = new ShiftedTime();
                Onlyonce once = Onlyonce.builder(SqlStore.open(ledger.source))
                        .time(time)
                        .build();
                AmqpInbox inbox = AmqpInbox.builder(once, broker.factory(), Ledger::text)
                        .queue(queue)
                        .id(MessageId.header("message-id"))
                        .retries(new RetryLimits(3, Duration.ZERO, Duration.ZERO, Duration.ofDays(1)))
                        .transactional((c, body, message) -> {
                            time.shift(Duration.ofMinutes(1));
                            throw new IllegalStateException("no answer within a minute");
                        })) {
            inbox.start();
            GetResponse dead = dead(1).get(0);
            assertThat(Broker.header(dead, "onlyonce-dead-reason")).isEqualTo("tries_exhausted");
            assertThat(Broker.header(dead, "onlyonce-dead-tries")).isEqualTo("3");
        }
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("N4 goes on after a handler that interrupts its thread")
    void interrupted() {
        broker.send(queue, "a", "1", "rude");
        broker.flush();
        try (AmqpInbox inbox = builder().transactional((c, body, message) -> {
            Ledger.write(c, body);
            if (body.equals("rude")) {
                Thread.currentThread().interrupt();
            }
        })) {
            inbox.start();
            Broker.until(() -> inbox.counts().applied() == 1);
            broker.send(queue, "a", "2", "fine");
            broker.flush();
            Broker.until(() -> inbox.counts().applied() == 2);
        }
        assertThat(ledger.effects()).containsExactly("rude", "fine");
        broker.untilEmpty(queue);
    }

    @Test
    @DisplayName("refuses settings that cannot work")
    void settings() {
        assertThatThrownBy(() -> AmqpInbox.builder(ledger.once, broker.factory(), Ledger::text)
                        .transactional((c, body, message) -> {}))
                .hasMessageContaining("queue");
        assertThatThrownBy(() -> builder().prefetch(0).transactional((c, body, message) -> {}))
                .hasMessageContaining("prefetch");
        assertThatThrownBy(() -> builder()
                        .id(MessageId.cloudEvent().orElse(MessageId.coordinates()))
                        .transactional((c, body, message) -> {}))
                .hasMessageContaining("coordinates");
    }
}
