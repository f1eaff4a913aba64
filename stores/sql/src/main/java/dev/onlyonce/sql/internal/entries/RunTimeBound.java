package dev.onlyonce.sql.internal.entries;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds how long statements run that can only wait for a locked table: cancels those that run for longer. The driver's own time-out wakes up a
 * thread for every statement, which costs a lone caller more than a statement with the bound. This looks at all of them at once, four
 * times a second while there are any.
 */
final class RunTimeBound {
    private static final Duration LOOK_EVERY = Duration.ofMillis(250);

    private static final String QUERY_CANCELED = "57014";
    private static final String LOCK_NOT_AVAILABLE = "55P03";

    private static final Logger log = LoggerFactory.getLogger(RunTimeBound.class);

    /** A thread of its own: cancelling is a round trip, and the common pool may be busy. */
    private static final Executor LATER =
            CompletableFuture.delayedExecutor(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS, RunTimeBound::start);

    private final Set<Run> runs = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean looking = new AtomicBoolean();

    /**
     * Executes; if it runs for too long, it is cancelled, has changed nothing, and fails as one that waits for a lock. A cancellation that
     * comes too late may end the wait of its commit for a standby, of which its warnings tell.
     */
    void execute(PreparedStatement statement, Duration runMax) throws SQLException {
        Run run = new Run(statement, runMax.toNanos());
        runs.add(run);
        lookLater();
        try {
            statement.execute();
        } catch (SQLException e) {
            throw run.cancelled && QUERY_CANCELED.equals(e.getSQLState())
                    ? new SQLException("the table is locked", LOCK_NOT_AVAILABLE, e)
                    : e;
        } finally {
            runs.remove(run);
            run.end();
        }
    }

    private void lookLater() {
        if (!looking.get() && looking.compareAndSet(false, true)) {
            LATER.execute(this::look);
        }
    }

    private void look() {
        runs.forEach(Run::cancelIfLate);
        looking.set(false);
        if (!runs.isEmpty()) {
            lookLater();
        }
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "onlyonce-cancel");
        thread.setDaemon(true);
        thread.start();
    }

    private static final class Run {
        private final PreparedStatement statement;
        private final long maxNanos;
        private final long begunNanos = System.nanoTime();
        private volatile boolean cancelled;
        private boolean ended;

        Run(PreparedStatement statement, long maxNanos) {
            this.statement = statement;
            this.maxNanos = maxNanos;
        }

        synchronized void cancelIfLate() {
            if (!ended && !cancelled && System.nanoTime() - begunNanos > maxNanos) {
                cancelled = true;
                try {
                    statement.cancel();
                } catch (SQLException | RuntimeException e) {
                    log.warn("A statement that runs for too long could not be cancelled", e);
                }
            }
        }

        /** Waits for a cancellation under way: it must not hit the next statement on the connection. */
        synchronized void end() {
            ended = true;
        }
    }
}
