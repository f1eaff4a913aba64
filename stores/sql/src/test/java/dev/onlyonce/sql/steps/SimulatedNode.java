package dev.onlyonce.sql.steps;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.sql.Sources;
import dev.onlyonce.sql.SqlClock;
import dev.onlyonce.sql.SqlStore;
import dev.onlyonce.store.Time;
import dev.onlyonce.testkit.ManualTime;
import java.io.Serial;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One life of a node in a {@link StepsSimulation}: from its start to its crash. It can be cut off, and suspended. */
final class SimulatedNode implements Time {
    private final ManualTime time;
    private final Time alone;
    private final Sources.Opening database;
    private final BooleanSupplier loseCommit;
    private final SqlStore store;
    private final Onlyonce once;
    private final Steps steps;
    private boolean dead;
    private long cutOffUntil;
    private boolean suspended;
    private long suspendedSince;
    /** How far its clock is behind. */
    private long missedNanos;

    private final List<Runnable> missed = new ArrayList<>();

    /**
     * Starts the node.
     *
     * @param loseCommit whether the answer to a commit is lost
     * @param engine builds the engine, which must use this node as its time
     */
    SimulatedNode(
            ManualTime time,
            Sources.Opening database,
            BooleanSupplier loseCommit,
            BiFunction<SqlStore, Onlyonce.Builder, Onlyonce> engine) {
        this.time = time;
        this.alone = time.alone();
        this.database = database;
        this.loseCommit = loseCommit;
        this.store = SqlClock.store(Sources.of(this::connect)).build();
        this.once = engine.apply(store, Onlyonce.builder(store).time(this));
        this.steps = Steps.of(once);
    }

    /** Unwinds the stack frames of a node that is no more. */
    static final class Crash extends Error {
        @Serial
        private static final long serialVersionUID = 1;

        Crash() {
            super("the node is no more", null, false, false);
        }
    }

    private Connection connect() throws SQLException {
        ensureAlive();
        if (time.nanos() < cutOffUntil) {
            throw new SQLException("cut off", "08001");
        }
        Connection connection = database.open();
        return Sources.proxy(Connection.class, (self, method, arguments) -> call(connection, method, arguments));
    }

    private @Nullable Object call(Connection connection, Method method, Object @Nullable [] arguments)
            throws Throwable {
        Object answer = Sources.invoke(connection, method, arguments);
        if (method.getName().equals("commit") && loseCommit.getAsBoolean()) {
            // The code is SQLite's for an error of input or output.
            throw new SQLException("the answer is lost", "08006", 10);
        }
        return answer;
    }

    Onlyonce once() {
        return once;
    }

    Steps steps() {
        return steps;
    }

    boolean isDead() {
        return dead;
    }

    /** How many claims it holds, or is about to release. */
    int claims() {
        return dead ? 0 : once.liveClaims() + store.access().halfDone().size();
    }

    void ensureAlive() {
        if (dead) {
            throw new Crash();
        }
    }

    void crash() {
        dead = true;
        throw new Crash();
    }

    void cutOff(Duration span) {
        cutOffUntil = time.nanos() + span.toNanos();
    }

    /** As a virtual machine: nothing runs in the background, no heartbeat either, and its clock stands still. */
    void suspend() {
        suspended = true;
        suspendedSince = time.nanos();
    }

    void resume() {
        suspended = false;
        missedNanos += time.nanos() - suspendedSince;
        missed.forEach(task -> schedule(Duration.ZERO, task));
        missed.clear();
    }

    boolean isSuspended() {
        return suspended;
    }

    void heal() {
        cutOffUntil = time.nanos();
    }

    @Override
    public Instant now() {
        return time.now();
    }

    @Override
    public long nanos() {
        return (suspended ? suspendedSince : time.nanos()) - missedNanos;
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        return time.schedule(delay, () -> run(task));
    }

    private void run(Runnable task) {
        if (suspended) {
            missed.add(task);
        } else if (!dead) {
            try {
                task.run();
            } catch (Crash e) {
                // It is marked dead; whoever has frames beneath this one notices by itself.
            }
        }
    }

    @Override
    public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
        ensureAlive();
        boolean done = alone.await(signal, max);
        ensureAlive();
        return done;
    }

    @Override
    public void close() {}
}
