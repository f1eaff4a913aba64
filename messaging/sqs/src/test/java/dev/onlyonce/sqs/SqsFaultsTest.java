package dev.onlyonce.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.messages.MessageId;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.messages.RetryLimits;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.SqsAsyncClient;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;

@DisplayName("An SQS consumer with faults")
class SqsFaultsTest {
    private final Broker broker = Broker.shared();
    private final Faults faults = new Faults();
    private final SqsAsyncClient faulty = Broker.client(broker.server.endpoint(), faults);
    private String queue;
    private Ledger ledger;

    @BeforeEach
    void open() throws Exception {
        ledger = new Ledger();
        queue = broker.queue();
    }

    @AfterEach
    void close() {
        faulty.close();
        ledger.close();
    }

    private SqsInbox.Builder<String> builder(SqsAsyncClient client, Duration visibility) {
        return SqsInbox.builder(ledger.once, client, Ledger::text)
                .queue(queue)
                .longPoll(Duration.ofSeconds(1))
                .visibility(visibility)
                .id(MessageId.header("message-id"))
                .retries(SqsInboxTest.QUICK);
    }

    @Test
    @DisplayName("N4 keeps a message from others for as long as its handler works")
    void heartbeat() {
        broker.send(queue, "id", "body");
        CountDownLatch goOn = new CountDownLatch(1);
        AtomicInteger beats = new AtomicInteger();
        faults.observe(request -> {
            if (request instanceof ChangeMessageVisibilityBatchRequest) {
                beats.incrementAndGet();
            }
        });
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        try (SqsInbox slow = builder(faulty, Duration.ofSeconds(6)).transactional((c, body, message) -> {
                    calls.add("slow");
                    goOn.await();
                    Ledger.write(c, body);
                });
                SqsInbox other = builder(broker.client, Duration.ofSeconds(6))
                        .transactional((c, body, message) -> calls.add("other"))) {
            slow.start();
            Broker.until(() -> calls.contains("slow"));
            other.start();
            // Three of them take as long as the message would have been invisible.
            Broker.until(() -> beats.get() >= 4);
            goOn.countDown();
            Broker.until(() -> slow.counts().applied() == 1);
            assertThat(other.counts().applied() + other.counts().repeated()).isZero();
        }
        assertThat(calls).containsOnly("slow");
        assertThat(ledger.effects()).containsExactly("body");
        assertThat(broker.size(queue)).isZero();
    }

    @Test
    @DisplayName("N4 that cannot keep a message from others applies it once, although both have it")
    void heartbeatBroken() {
        faults.refuse(request -> request instanceof ChangeMessageVisibilityBatchRequest);
        broker.send(queue, "id", "body");
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch inBatch = new CountDownLatch(1);
        CountDownLatch delivered = new CountDownLatch(1);
        Faults otherFaults = new Faults();
        otherFaults.received(messages -> delivered.countDown());
        try (SqsAsyncClient otherClient = Broker.client(broker.server.endpoint(), otherFaults);
                SqsInbox slow = builder(faulty, Duration.ofSeconds(1)).transactional((c, body, message) -> {
                    Ledger.write(c, body);
                    inBatch.countDown();
                    goOn.await();
                });
                SqsInbox other = builder(otherClient, Duration.ofSeconds(1))
                        .transactional((c, body, message) -> Ledger.write(c, body))) {
            slow.start();
            await(inBatch);
            other.start();
            await(delivered);
            goOn.countDown();
            Broker.until(() -> slow.counts().applied() == 1);
            Broker.until(() -> other.counts().repeated() >= 1);
            assertThat(other.counts().applied()).isZero();
        }
        assertThat(faults.refused).hasPositiveValue();
        assertThat(ledger.effects()).containsExactly("body");
        assertThat(broker.size(queue)).isZero();
    }

    @Test
    @DisplayName("N4 calls no leased handler while another has its message")
    void leasedByAnother() {
        faults.refuse(request -> request instanceof ChangeMessageVisibilityBatchRequest);
        broker.send(queue, "id", "body");
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch delivered = new CountDownLatch(1);
        Queue<String> calls = new ConcurrentLinkedQueue<>();
        Faults otherFaults = new Faults();
        otherFaults.received(messages -> delivered.countDown());
        try (SqsAsyncClient otherClient = Broker.client(broker.server.endpoint(), otherFaults);
                SqsInbox slow = builder(faulty, Duration.ofSeconds(1)).leased("ship", (claim, body, message) -> {
                    calls.add("slow");
                    goOn.await();
                });
                SqsInbox other = builder(otherClient, Duration.ofSeconds(1))
                        .leased("ship", (claim, body, message) -> calls.add("other"))) {
            slow.start();
            Broker.until(() -> calls.contains("slow"));
            other.start();
            await(delivered);
            goOn.countDown();
            Broker.until(() -> slow.counts().applied() == 1);
            Broker.until(() -> other.counts().repeated() >= 1);
        }
        assertThat(calls).containsExactly("slow");
    }

    @Test
    @DisplayName("N4 recognises what could not be deleted")
    void deletesFail() {
        for (int i = 0; i < 25; i++) {
            broker.send(queue, "id" + i, "body" + i);
        }
        faults.refuse(request -> request instanceof DeleteMessageBatchRequest);
        try (SqsInbox inbox =
                builder(faulty, Duration.ofSeconds(1)).transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> inbox.counts().repeated() >= 25);
            faults.refuse(request -> false);
            // The service deletes them, and the consumer does not know.
            faults.lose(request -> request instanceof DeleteMessageBatchRequest);
            Broker.until(() -> broker.size(queue) == 0);
            assertThat(inbox.counts().applied()).isEqualTo(25);
        }
        assertThat(faults.lost).hasPositiveValue();
        assertThat(ledger.effects()).hasSize(25).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N4 goes on when the service answers again, and loses nothing")
    void outage() {
        AtomicInteger receives = new AtomicInteger();
        // The second and the third never get there; the fourth is answered, and the answer is lost.
        faults.refuse(request -> {
            int n = request instanceof ReceiveMessageRequest ? receives.incrementAndGet() : 0;
            return n == 2 || n == 3;
        });
        faults.lose(request -> request instanceof ReceiveMessageRequest && receives.get() == 4);
        try (SqsInbox inbox =
                builder(faulty, Duration.ofSeconds(1)).transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Broker.until(() -> receives.get() >= 1);
            for (int i = 0; i < 30; i++) {
                broker.send(queue, "id" + i, "body" + i);
            }
            Broker.until(() -> inbox.counts().applied() == 30);
        }
        assertThat(faults.refused).hasValue(2);
        assertThat(ledger.effects()).hasSize(30).doesNotHaveDuplicates();
    }

    @Test
    @DisplayName("N4 that is closed gives back what it has not begun")
    void givesBack() throws Exception {
        broker.send(queue, "id", "body");
        Duration hour = Duration.ofHours(1);
        SqsInbox closed = builder(faulty, hour).transactional((c, body, message) -> Ledger.write(c, body));
        Thread closing = new Thread(closed::close);
        faults.received(messages -> {
            closing.start();
            Broker.until(() -> closing.getState() == Thread.State.TIMED_WAITING);
        });
        closed.start();
        Broker.until(() -> closing.getState() != Thread.State.NEW);
        closing.join();
        assertThat(closed.counts().applied()).isZero();
        try (SqsInbox next = builder(broker.client, hour).transactional((c, body, message) -> Ledger.write(c, body))) {
            next.start();
            Broker.until(() -> next.counts().applied() == 1);
        }
        assertThat(ledger.effects()).containsExactly("body");
    }

    @Test
    @DisplayName("N4 keeps a dead letter until the dead-letter queue takes it")
    void deadLettersWait() {
        broker.send(queue, null, "no id");
        try (SqsInbox inbox = builder(broker.client, Duration.ofSeconds(30))
                .deadLetterQueue(queue + "-later")
                .transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            broker.send(queue, "id", "body");
            Broker.until(() -> inbox.counts().applied() == 1);
            assertThat(inbox.counts().dead()).isZero();
            broker.create(queue + "-later", false);
            assertThat(broker.take(queue + "-later", 1).get(0).body()).isEqualTo("no id");
            Broker.until(() -> broker.size(queue) == 0);
        }
    }

    @Test
    @DisplayName("N4 folds the attributes of a dead letter that has no room for the reason, and drops the reason last")
    void crowdedDeadLetters() {
        Map<String, MessageAttributeValue> ten = new HashMap<>();
        for (int i = 0; i < 10; i++) {
            ten.put("a" + i, Attributes.text("value \" " + i));
        }
        broker.send(queue, null, ten, "crowded").join();
        try (SqsInbox inbox =
                builder(faulty, Duration.ofSeconds(30)).transactional((c, body, message) -> Ledger.write(c, body))) {
            inbox.start();
            Message dead = broker.take(queue + "-dead", 1).get(0);
            assertThat(Broker.attribute(dead, "onlyonce-dead-reason")).isEqualTo("missing_id");
            assertThat(Broker.attribute(dead, "onlyonce-dead-attributes"))
                    .startsWith("{\"a0\":{\"type\":\"String\",\"value\":\"value \\\" 0\"},");
            faults.reject(request -> request instanceof SendMessageRequest send
                    && send.messageAttributes().containsKey("onlyonce-dead-reason"));
            broker.send(queue, null, Map.of("own", Attributes.text("mine")), "large")
                    .join();
            Message large = broker.take(queue + "-dead", 1).get(0);
            assertThat(large.body()).isEqualTo("large");
            assertThat(large.messageAttributes()).containsOnlyKeys("own");
        }
    }

    @Test
    @DisplayName("N4 applies a dead letter that is sent again as it is, also if its attributes were folded")
    void sentAgain() {
        Map<String, MessageAttributeValue> own = new HashMap<>(Broker.id("id"));
        own.put(
                "binary",
                MessageAttributeValue.builder()
                        .dataType("Binary.raw")
                        .binaryValue(SdkBytes.fromUtf8String("\u0001\u0002"))
                        .build());
        own.put(
                "number",
                MessageAttributeValue.builder()
                        .dataType("Number")
                        .stringValue("7")
                        .build());
        for (int i = 0; own.size() < 6; i++) {
            own.put("a" + i, Attributes.text("value " + i));
        }
        broker.send(queue, null, own, "body").join();
        AtomicInteger calls = new AtomicInteger();
        Queue<String> seen = new ConcurrentLinkedQueue<>();
        try (SqsInbox inbox = builder(broker.client, Duration.ofSeconds(30)).transactional((c, body, message) -> {
            message.headers().forEach(header -> seen.add(header.name()));
            // Rejected, and sent again, twice.
            if (calls.incrementAndGet() <= 4) {
                throw new PoisonMessage("not today");
            }
            Ledger.write(
                    c,
                    body
                            + message.header("binary").orElse("?")
                            + message.header("number").orElse("?"));
        })) {
            inbox.start();
            for (int i = 0; i < 2; i++) {
                Message dead = broker.take(queue + "-dead", 1).get(0);
                assertThat(Broker.attribute(dead, "onlyonce-dead-reason")).isEqualTo("rejected");
                assertThat(dead.messageAttributes()).doesNotContainKey("message-id");
                broker.send(queue, null, dead.messageAttributes(), dead.body()).join();
            }
            Broker.until(() -> inbox.counts().applied() == 1);
        }
        assertThat(ledger.effects()).containsExactly("body\u0001\u00027");
        assertThat(seen).noneMatch(name -> name.startsWith("onlyonce-dead-"));
    }

    @Test
    @DisplayName("N4 tries a message again that failed before its process died, and counts that try")
    void triesSurvive() {
        broker.send(queue, "id", "body");
        // The pause leaves the first consumer time to end before it gets the message again.
        RetryLimits twice = new RetryLimits(2, Duration.ofSeconds(4), Duration.ofSeconds(4), Duration.ofMinutes(5));
        try (SqsInbox first = builder(broker.client, Duration.ofSeconds(30))
                .retries(twice)
                .transactional((c, body, message) -> {
                    throw new IllegalStateException("never");
                })) {
            first.start();
            Broker.until(() -> first.counts().retried() == 1);
        }
        try (SqsInbox second = builder(broker.client, Duration.ofSeconds(30))
                .retries(twice)
                .transactional((c, body, message) -> {
                    throw new IllegalStateException("never");
                })) {
            second.start();
            List<Message> dead = broker.take(queue + "-dead", 1);
            assertThat(Broker.attribute(dead.get(0), "onlyonce-dead-tries")).isEqualTo("2");
        }
    }

    private static void await(CountDownLatch latch) {
        Broker.until(() -> latch.getCount() == 0);
    }
}
