package dev.onlyonce.testkit.messages;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Onlyonce;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A topic, a database with the effects of its messages, and consumers between them. */
final class ConsumerBench {
    /** Enough for a test that does not look at tries. */
    static final int MANY_TRIES = 10_000;

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final long PAUSE_NANOS = 10_000_000;
    private static final int SHOWN_MAX = 100;

    private final ConsumedTopic topic;
    private final DataSource database;
    private final StoppableSource source;
    private final Onlyonce once;
    private final List<RunningConsumer> started = new ArrayList<>();

    ConsumerBench(ConsumedTopic topic, DataSource database, Function<DataSource, Onlyonce> opener) throws SQLException {
        this.topic = topic;
        this.database = database;
        this.source = new StoppableSource(database);
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE effect (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body varchar("
                    + SHOWN_MAX + ") NOT NULL)");
        }
        this.once = opener.apply(source);
    }

    ConsumedTopic topic() {
        return topic;
    }

    StoppableSource store() {
        return source;
    }

    void send(SentMessage... messages) {
        topic.send(List.of(messages));
    }

    RunningConsumer transactional(int triesMax, ConsumerSetup.Effect effect) {
        return start(new ConsumerSetup(once, effect, false, triesMax));
    }

    RunningConsumer leased(int triesMax, ConsumerSetup.Effect effect) {
        return start(new ConsumerSetup(once, effect, true, triesMax));
    }

    private RunningConsumer start(ConsumerSetup setup) {
        RunningConsumer consumer = topic.start(setup);
        started.add(consumer);
        return consumer;
    }

    /** An effect: a row, in the message's transaction. */
    static void write(@Nullable Connection transaction, String body) throws SQLException {
        try (PreparedStatement insert =
                requireNonNull(transaction).prepareStatement("INSERT INTO effect (body) VALUES (?)")) {
            insert.setString(1, body.length() > SHOWN_MAX ? body.substring(0, SHOWN_MAX) : body);
            insert.executeUpdate();
        }
    }

    /** The bodies that took effect, in their order. */
    List<String> effects() {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT body FROM effect ORDER BY seq")) {
            List<String> bodies = new ArrayList<>();
            while (row.next()) {
                bodies.add(requireNonNull(row.getString(1)));
            }
            return bodies;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** This many dead letters, and no more. */
    List<DeadMessage> dead(int count) {
        List<DeadMessage> found = new ArrayList<>();
        until(count + " dead letters", () -> {
            found.clear();
            found.addAll(topic.dead());
            return found.size() >= count;
        });
        if (found.size() > count) {
            throw new AssertionError("more than " + count + " dead letters: " + found);
        }
        return found;
    }

    static void until(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("this did not happen within " + PATIENCE + ": " + what);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    void close() throws Exception {
        source.start();
        started.forEach(RunningConsumer::close);
        topic.close();
        once.close();
        if (database instanceof AutoCloseable closeable) {
            closeable.close();
        }
    }
}
