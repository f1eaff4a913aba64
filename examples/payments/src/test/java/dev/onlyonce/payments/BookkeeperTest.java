package dev.onlyonce.payments;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.messages.MessageCounts;
import dev.onlyonce.payments.books.Bookkeeping;
import dev.onlyonce.payments.db.Database;
import dev.onlyonce.payments.events.EventOutbox;
import dev.onlyonce.payments.kafka.Bookkeeper;
import dev.onlyonce.payments.provider.Provider;
import dev.onlyonce.payments.provider.ProviderOptions;
import dev.onlyonce.payments.storm.BooksCheck;
import dev.onlyonce.payments.storm.BooksVerdict;
import dev.onlyonce.testservers.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The books with a broker")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BookkeeperTest {
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int PARTITIONS = 6;

    private KafkaServer broker;
    private Provider provider;
    private PaymentsServer server;
    private Books books;

    /** The application starts, and is paid, while the broker is down. */
    @BeforeAll
    void start(@TempDir Path folder) throws Exception {
        broker = KafkaServer.start();
        broker.kill();
        provider = Provider.start(ProviderOptions.in(folder));
        String db = "jdbc:sqlite:" + folder.resolve("payments.db");
        server = PaymentsServer.start(
                db,
                "payments.wait-max=60s",
                "payments.provider.url=" + provider.url(),
                "payments.kafka.bootstrap-servers=" + broker.address(),
                "payments.kafka.bookkeeper=false");
        books = new Books(db, provider.url());
        pay("while-down");
        broker.restart();
    }

    @AfterAll
    void stop() {
        server.close();
        provider.close();
        broker.close();
    }

    private void pay(String key) throws Exception {
        PaymentsServer.Reply reply =
                server.send("POST", "/payments", "{\"amount\": 1999, \"currency\": \"EUR\"}", "Idempotency-Key", key);
        assertThat(reply.status()).as(reply.body()).isEqualTo(201);
    }

    private Bookkeeper bookkeeper() {
        return new Bookkeeper(
                server.context().getBean(Onlyonce.class),
                new Bookkeeper.Broker(broker.address(), null),
                server.context().getBean(Database.class),
                server.context().getBean(Bookkeeping.class));
    }

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", broker.address()));
    }

    private static void until(Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.call()) {
            assertThat(System.nanoTime() - end).as("not within " + PATIENCE).isNegative();
            LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
        }
    }

    private void untilPublished() throws Exception {
        until(() -> books.count("SELECT count(*) FROM onlyonce_outbox") == 0);
    }

    private void untilRight(long eventsMin) throws Exception {
        BooksVerdict verdict = new BooksCheck(server.url(), provider.url()).await(PATIENCE);
        assertThat(verdict.allWell()).as("%s", verdict).isTrue();
        assertThat(verdict.events()).isGreaterThanOrEqualTo(eventsMin);
    }

    @Test
    @DisplayName("N5 are kept by several, although the broker was down at the start and no bookkeeper made the topic")
    void brokerDownAtTheStart() throws Exception {
        untilPublished();
        try (Admin admin = admin()) {
            assertThat(admin.describeTopics(List.of(EventOutbox.DESTINATION))
                            .allTopicNames()
                            .get()
                            .get(EventOutbox.DESTINATION)
                            .partitions())
                    .hasSize(PARTITIONS);
        }
        pay("while-up");
        try (Bookkeeper bookkeeper = bookkeeper()) {
            untilRight(2);
            until(() -> bookkeeper.counts().applied() > 0);
        }
    }

    @Test
    @DisplayName(
            "N4 have each event once, although a bookkeeper was killed after it had posted and before its offsets were")
    void offsetsLost() throws Exception {
        pay("offsets-lost");
        untilPublished();
        try (Bookkeeper first = bookkeeper()) {
            untilRight(2);
            until(() -> first.counts().applied() > 0);
        }
        long lines = books.count("SELECT count(*) FROM book_line");
        Map<TopicPartition, OffsetAndMetadata> zero = new HashMap<>();
        IntStream.range(0, PARTITIONS)
                .forEach(p -> zero.put(new TopicPartition(EventOutbox.DESTINATION, p), new OffsetAndMetadata(0)));
        try (Admin admin = admin()) {
            until(() -> {
                try {
                    admin.alterConsumerGroupOffsets("bookkeeping", zero).all().get();
                    return true;
                } catch (ExecutionException e) {
                    // The one that was closed is still being waited for.
                    return false;
                }
            });
        }
        try (Bookkeeper again = bookkeeper()) {
            until(() -> again.counts().repeated() >= lines / 2);
            assertThat(again.counts().applied()).isZero();
        }
        assertThat(books.count("SELECT count(*) FROM book_line")).isEqualTo(lines);
    }

    @Test
    @DisplayName(
            "N4 take what is wrong as dead letters, never by halves, and go on with what is right, in whatever order")
    void hostile() throws Exception {
        untilPublished();
        server.context()
                .getBean(Database.class)
                .transaction(
                        sql -> sql.update("INSERT INTO book_line VALUES ('pay_half', 2, 'payment.succeeded', 'other',"
                                + " 'merchant', 'EUR', 0, 100, 0)"));
        try (Bookkeeper bookkeeper = bookkeeper();
                KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker.address()),
                        new ByteArraySerializer(),
                        new ByteArraySerializer())) {
            untilRight(1);
            MessageCounts before = bookkeeper.counts();
            send(producer, "e1", event("pay_1", "payment.succeeded", 100, "EUR"));
            send(producer, "e1", event("pay_1", "payment.succeeded", 100, "EUR"));
            send(producer, "e1", event("pay_1", "payment.succeeded", 999, "EUR"));
            send(producer, "e2", event("pay_half", "payment.succeeded", 100, "EUR"));
            send(producer, "e3", event("pay_3", "payment.succeeded", 100, "ZZZ"));
            send(producer, "e4", event("pay_4", "payment.lost", 100, "EUR"));
            send(producer, "e5", event("pay_5", "payment.succeeded", Long.MAX_VALUE, "EUR"));
            send(producer, "e6", event("", "payment.succeeded", 100, "EUR"));
            send(producer, "e7", "{\"id\":\"pay_7\",\"type\":\"payment.succeeded\",\"amount\":1}");
            send(producer, null, event("pay_8", "payment.succeeded", 100, "EUR"));
            send(producer, "e9", event("ref_9", "refund.succeeded", 60, "EUR"));
            send(producer, "e10", event("pay_9", "payment.succeeded", 70, "EUR"));
            producer.flush();
            until(() -> bookkeeper.counts().applied() - before.applied() == 3);
            until(() -> bookkeeper.counts().dead() - before.dead() == 8);
            assertThat(bookkeeper.counts().repeated() - before.repeated()).isEqualTo(1);
            assertThat(bookkeeper.counts().retried())
                    .as("what will never do is not tried again")
                    .isEqualTo(before.retried());
        }
        List<String> lines = server.context()
                .getBean(Database.class)
                .transaction(
                        sql -> sql.list(
                                row -> row.getString(1) + " " + row.getString(2) + " " + row.getLong(3) + " "
                                        + row.getLong(4),
                                "SELECT event_id, account, debit, credit FROM book_line WHERE tenant = 'acme' ORDER BY event_id, line"));
        assertThat(lines)
                .containsExactly(
                        "pay_1 provider 100 0",
                        "pay_1 merchant 0 100",
                        "pay_9 provider 70 0",
                        "pay_9 merchant 0 70",
                        "ref_9 merchant 60 0",
                        "ref_9 provider 0 60");
    }

    private static String event(String id, String type, long amount, String currency) {
        return ("{\"id\":\"%s\",\"type\":\"%s\",\"tenant\":\"acme\",\"payment_id\":\"pay\",\"amount\":%d,\"currency\":\"%s\","
                        + "\"at\":0}")
                .formatted(id, type, amount, currency);
    }

    /** All to one partition, so that one that got stuck would keep the others. */
    private static void send(KafkaProducer<byte[], byte[]> producer, String id, String body) {
        ProducerRecord<byte[], byte[]> sent =
                new ProducerRecord<>(EventOutbox.DESTINATION, 0, null, body.getBytes(StandardCharsets.UTF_8));
        if (id != null) {
            sent.headers().add("ce_id", id.getBytes(StandardCharsets.UTF_8));
            sent.headers().add("ce_source", "/hostile".getBytes(StandardCharsets.UTF_8));
        }
        var unused = producer.send(sent);
    }
}
