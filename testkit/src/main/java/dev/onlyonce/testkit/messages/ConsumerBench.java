package dev.onlyonce.testkit.messages;

import dev.onlyonce.Onlyonce;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import javax.sql.DataSource;

/** A topic, a database with the effects of its messages, and consumers between them. */
final class ConsumerBench {
    /** Enough for a test that does not look at tries. */
    static final int MANY_TRIES = 10_000;

    private static final Duration QUICK = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final long PAUSE_NANOS = 10_000_000;

    private final ConsumedTopic topic;
    private final DataSource database;
    private final EffectTable effects;
    private final StoppableSource source;
    private final Onlyonce once;
    private final List<RunningConsumer> started = new ArrayList<>();

    ConsumerBench(ConsumedTopic topic, DataSource database, Function<DataSource, Onlyonce> opener) throws SQLException {
        this.topic = topic;
        this.database = database;
        this.source = new StoppableSource(database);
        this.effects = EffectTable.create(database);
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

    /** The database, also while it is stopped for consumers. */
    DataSource database() {
        return database;
    }

    RunningConsumer transactional(int triesMax, ConsumerSetup.Effect effect) {
        return start(new ConsumerSetup(once, effect, false, triesMax, PATIENCE));
    }

    RunningConsumer leased(int triesMax, ConsumerSetup.Effect effect) {
        return start(new ConsumerSetup(once, effect, true, triesMax, PATIENCE));
    }

    /** With handlers that are to be quick. */
    RunningConsumer quick(boolean leased, int triesMax, ConsumerSetup.Effect effect) {
        return start(new ConsumerSetup(once, effect, leased, triesMax, QUICK));
    }

    private RunningConsumer start(ConsumerSetup setup) {
        RunningConsumer consumer = topic.start(setup);
        started.add(consumer);
        return consumer;
    }

    /** The bodies that took effect, in their order. */
    List<String> effects() {
        return effects.bodies();
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
