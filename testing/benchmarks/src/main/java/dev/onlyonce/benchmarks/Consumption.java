package dev.onlyonce.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.kafka.KafkaInbox;
import dev.onlyonce.messages.MessageId;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.testservers.KafkaServer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * One consumer of Kafka that inserts a row for each message, on PostgreSQL: with {@link KafkaInbox}, without any protection (a poll in one
 * transaction), and with the obvious protection (a transaction for each message, which inserts its id first). All messages are new.
 */
final class Consumption {
    private static final String TOPIC = "messages";
    private static final String ID = "message-id";
    private static final int PARTITIONS = 4;
    private static final int BODY_BYTES = 512;
    /** More than anybody consumes in a turn. */
    private static final int MESSAGES_A_SECOND = 25_000;

    private static final Duration POLL = Duration.ofMillis(200);

    private final Options options;
    private final Databases databases;
    private final Report report;

    Consumption(Options options, Databases databases, Report report) {
        this.options = options;
        this.databases = databases;
        this.report = report;
    }

    /** A contender's turn: returns messages a second. */
    @FunctionalInterface
    private interface Turn {
        double run() throws Exception;
    }

    void run() throws Exception {
        report.title("Kafka: messages consumed with one insert each, PostgreSQL");
        String url = databases.create(Databases.Kind.POSTGRESQL);
        try (KafkaServer broker = KafkaServer.start("num.partitions=" + PARTITIONS);
                HikariDataSource pool = databases.pool(url, Databases.POOL);
                SqlStore store = SqlStore.open(pool);
                Onlyonce once = Onlyonce.builder(store).build()) {
            execute(
                    pool,
                    "CREATE TABLE effect (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea NOT NULL)");
            execute(pool, "CREATE TABLE seen (consumer text NOT NULL, id text NOT NULL, PRIMARY KEY (consumer, id))");
            fill(broker);
            List<Turn> turns = List.of(
                    () -> protectedTurn(broker, once),
                    () -> plainTurn(broker, records -> together(pool, records)),
                    () -> plainTurn(broker, records -> oneByOne(pool, records)));
            double[] rates = new double[turns.size()];
            for (int round = 0; round <= options.rounds(); round++) {
                for (int i = 0; i < rates.length; i++) {
                    double rate = turns.get(i).run();
                    rates[i] += round == 0 ? 0 : rate / options.rounds(); // the first lets the compiler do its work
                }
            }
            report.header(" consumer", "messages/s", "KafkaInbox is");
            report.line("| KafkaInbox, transactional | **%.0f** | |", rates[0]);
            report.line("| unprotected, a poll a transaction | %.0f | **%.2fx** |", rates[1], rates[0] / rates[1]);
            report.line("| protected row by row | %.0f | **%.2fx** |", rates[2], rates[0] / rates[2]);
        }
    }

    private void fill(KafkaServer broker) throws Exception {
        long messages = options.round().toSeconds() * MESSAGES_A_SECOND;
        byte[] body = "x".repeat(BODY_BYTES).getBytes(StandardCharsets.UTF_8);
        Map<String, Object> config = Map.of(
                "bootstrap.servers", broker.address(), "max.in.flight.requests.per.connection", 1, "linger.ms", 5);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (long i = 0; i < messages; i++) {
                byte[] key = ("key" + i % 1000).getBytes(StandardCharsets.UTF_8);
                ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(TOPIC, key, body);
                record.headers().add(ID, ("id" + i).getBytes(StandardCharsets.UTF_8));
                sent.add(producer.send(record));
            }
            for (Future<RecordMetadata> answer : sent) {
                answer.get();
            }
        }
    }

    /** A group of its own for each turn: everything is new to it. */
    private static Map<String, Object> consumer(KafkaServer broker) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", broker.address());
        config.put("group.id", UUID.randomUUID().toString());
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", false);
        return config;
    }

    private double protectedTurn(KafkaServer broker, Onlyonce once) throws InterruptedException {
        CountDownLatch first = new CountDownLatch(1);
        try (KafkaInbox inbox = KafkaInbox.builder(once, consumer(broker), message -> message.body())
                .topics(TOPIC)
                .id(MessageId.header(ID))
                .transactional((transaction, body, message) -> {
                    first.countDown();
                    insert(transaction, body);
                })) {
            inbox.start();
            first.await();
            long begun = System.nanoTime();
            new CountDownLatch(1).await(options.round().toNanos(), TimeUnit.NANOSECONDS);
            return inbox.counts().applied() * 1e9 / (System.nanoTime() - begun);
        }
    }

    /** Applies the records of a poll. */
    @FunctionalInterface
    private interface Poll {
        void apply(ConsumerRecords<byte[], byte[]> records) throws SQLException;
    }

    private double plainTurn(KafkaServer broker, Poll poll) throws SQLException {
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(consumer(broker), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            long applied = 0;
            long begun = 0;
            while (begun == 0 || System.nanoTime() - begun < options.round().toNanos()) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
                if (!records.isEmpty()) {
                    begun = begun == 0 ? System.nanoTime() : begun;
                    poll.apply(records);
                    consumer.commitSync();
                    applied += records.count();
                }
            }
            return applied * 1e9 / (System.nanoTime() - begun);
        }
    }

    private static void together(DataSource pool, ConsumerRecords<byte[], byte[]> records) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            for (ConsumerRecord<byte[], byte[]> record : records) {
                insert(connection, record.value());
            }
            connection.commit();
        }
    }

    private static void oneByOne(DataSource pool, ConsumerRecords<byte[], byte[]> records) throws SQLException {
        String turn = UUID.randomUUID().toString();
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            for (ConsumerRecord<byte[], byte[]> record : records) {
                try (PreparedStatement seen = connection.prepareStatement(
                        "INSERT INTO seen (consumer, id) VALUES (?, ?) ON CONFLICT DO NOTHING")) {
                    seen.setString(1, turn);
                    seen.setString(2, new String(record.headers().lastHeader(ID).value(), StandardCharsets.UTF_8));
                    if (seen.executeUpdate() == 1) {
                        insert(connection, record.value());
                    }
                }
                connection.commit();
            }
        }
    }

    private static void insert(Connection connection, byte[] body) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO effect (body) VALUES (?)")) {
            insert.setBytes(1, body);
            insert.executeUpdate();
        }
    }

    private static void execute(DataSource pool, String sql) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
