package dev.onlyonce.sql.steps;

import dev.onlyonce.Codec;
import dev.onlyonce.DownstreamKey;
import dev.onlyonce.Key;
import dev.onlyonce.LeaseLost;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.OpenClaim;
import dev.onlyonce.sql.internal.connections.Connections;
import dev.onlyonce.sql.transactions.TransactionalAction;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Time;
import java.io.Serial;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One attempt's steps: those recorded before it, and those it records. It belongs to the thread that runs the flow. A step that another
 * thread calls, or that is called inside another step or after the end, is refused before its effect: the steps would mix up their places.
 */
final class StepAttempt implements StepRunner {
    /** An effect has happened and must be recorded: worth some patience with the database. */
    private static final int RECORD_TRIES_MAX = 5;

    private static final Duration RECORD_PAUSE = Duration.ofMillis(200);

    private final StepTable table;
    private final Connections connections;
    private final OpenClaim claim;
    private final Time time;
    private final Duration heldMax;
    private final StepTable.Owner owner;
    private final StepTable.Of of;
    /** By number. There are gaps where a flow went on after a step that failed. */
    private final NavigableMap<Integer, StepTable.Step> recorded = new TreeMap<>();

    private final Set<String> names = new HashSet<>();
    /** The flow's own. */
    private final Thread thread;

    private int number;
    private boolean inDoubt;
    /** The step that runs now. Only the flow's own thread writes it. */
    private @Nullable String running;

    private boolean ended;

    /** For a flow on the caller's thread. */
    private StepAttempt(StepTable table, Connections connections, OpenClaim claim, Timing timing, Past past) {
        this.table = table;
        this.connections = connections;
        this.claim = claim;
        this.time = timing.time;
        this.heldMax = timing.heldMax;
        this.owner = new StepTable.Owner(claim.key().entryId(), claim.token());
        this.of = past.of;
        this.thread = Thread.currentThread();
        past.recorded.forEach(step -> this.recorded.put(step.number(), step));
    }

    /** The clock, and how long a claim may be held. */
    record Timing(Time time, Duration heldMax) {}

    private record Past(StepTable.Of of, List<StepTable.Step> recorded) {}

    /** Reads what earlier attempts have recorded. The transaction may run on another thread than the flow will. */
    static StepAttempt of(StepTable table, Connections connections, OpenClaim claim, Timing timing) {
        StepTable.Owner owner = new StepTable.Owner(claim.key().entryId(), claim.token());
        Past past = connections.transaction(transaction -> table.bounded(transaction, c -> {
            long createdAt = table.held(c, owner).orElseThrow(() -> lost(claim));
            StepTable.Of of = new StepTable.Of(owner.id(), createdAt);
            List<StepTable.Step> recorded = table.read(c, of);
            if (claim.attempt() == 1 && !recorded.isEmpty()) {
                // The first attempt has no past: these are of an evicted entry that was made at the very same time.
                table.forget(c, of);
                recorded = List.of();
            }
            return new Past(of, recorded);
        }));
        return new StepAttempt(table, connections, claim, timing, past);
    }

    /** An effect was started, and nobody knows whether it happened. */
    static final class InDoubt extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        InDoubt(String step) {
            super("step " + step + " was started, and nobody knows whether it happened", null, false, false);
        }
    }

    StepTable.Of of() {
        return of;
    }

    boolean isInDoubt() {
        return inDoubt;
    }

    @Override
    public int attempt() {
        return claim.attempt();
    }

    @Override
    public <R, X extends Exception> R effect(String name, Codec<R> codec, StepAction<R, X> action) throws X {
        StepTable.Step before = next(name);
        try {
            return effect(name, codec, action, before);
        } finally {
            running = null;
        }
    }

    private <R, X extends Exception> R effect(
            String name, Codec<R> codec, StepAction<R, X> action, StepTable.@Nullable Step before) throws X {
        if (before != null && before.state() == StepTable.FINISHED) {
            return decode(codec, before);
        }
        boolean absent = before == null || before.state() == StepTable.STARTED;
        if (absent && recorded.higherKey(number) != null) {
            // The flow went on without it, and must go the same way again. A flow does not go on after a step in doubt,
            // so
            // one that is still there as started did not happen: there was no database to erase it from.
            throw new NotExecuted("step " + name + " did not happen in an earlier attempt, which went on without it");
        }
        // A started step of an entry that could be claimed again is proven not to have happened.
        record(new StepTable.Step(number, name, StepTable.STARTED, null), OnLeaseLost.UNKNOWN);
        // The commit may have taken longer than the lease.
        claim.ensureHeld();
        R result;
        try {
            result = action.run(DownstreamKey.of(claim.key(), name));
        } catch (NotExecuted e) {
            erase(e);
            throw e;
        } catch (Throwable e) {
            inDoubt = true;
            throw e;
        }
        finish(name, codec, result);
        return result;
    }

    @Override
    public <R, X extends Exception> R repeatable(String name, Codec<R> codec, StepAction<R, X> action) throws X {
        StepTable.Step before = next(name);
        try {
            if (before != null && before.state() == StepTable.FINISHED) {
                return decode(codec, before);
            }
            claim.ensureHeld();
            R result = action.run(DownstreamKey.of(claim.key(), name));
            byte[] encoded = codec.encode(result);
            record(new StepTable.Step(number, name, StepTable.FINISHED, encoded), OnLeaseLost.RESUME);
            return result;
        } finally {
            running = null;
        }
    }

    @Override
    public <R, X extends Exception> R local(String name, Codec<R> codec, TransactionalAction<R, X> action) throws X {
        StepTable.Step before = next(name);
        try {
            return local(name, codec, action, before);
        } finally {
            running = null;
        }
    }

    @SuppressWarnings("unchecked") // Only X and unchecked ones come out of the action.
    private <R, X extends Exception> R local(
            String name, Codec<R> codec, TransactionalAction<R, X> action, StepTable.@Nullable Step before) throws X {
        if (before != null && before.state() == StepTable.FINISHED) {
            return decode(codec, before);
        }
        int place = number;
        AtomicBoolean again = new AtomicBoolean(table.locksWhole());
        claim.ensureHeld();
        try {
            return connections.transaction(c -> {
                table.boundIdle(c, heldMax);
                if (again.getAndSet(true)) {
                    // A heartbeat may have come between the transaction's snapshot and the fence: this time it cannot.
                    fence(c, OnLeaseLost.RESUME);
                } else if (table.heldAtFirst(c, owner).isEmpty()) {
                    throw lost(claim);
                }
                R result;
                try {
                    result = action.run(c);
                } catch (RuntimeException e) {
                    throw e;
                } catch (Exception e) {
                    if (e instanceof SQLException sql && table.isConflict(sql)) {
                        // The database wants the whole transaction again.
                        throw sql;
                    }
                    throw new Thrown(e);
                }
                byte[] encoded = codec.encode(result);
                return table.bounded(c, bounded -> {
                    table.write(bounded, of, new StepTable.Step(place, name, StepTable.FINISHED, encoded));
                    fence(bounded, OnLeaseLost.RESUME);
                    return result;
                });
            });
        } catch (Thrown e) {
            throw (X) e.exception;
        }
    }

    /** Carries a checked exception through a transaction. */
    private static final class Thrown extends RuntimeException {
        @Serial
        private static final long serialVersionUID = 1;

        private final transient Exception exception;

        Thrown(Exception exception) {
            super(null, exception, false, false);
            this.exception = exception;
        }
    }

    /** The flow has returned or thrown: no more steps. */
    void end() {
        ended = true;
    }

    /** The flow has ended: it must have come by everything that was recorded. */
    void checkEnd() {
        if (inDoubt) {
            throw new InDoubt("before the end");
        }
        Map.Entry<Integer, StepTable.Step> missed = recorded.higherEntry(number);
        if (missed != null) {
            throw new IllegalStateException("The flow was changed: step " + missed.getKey() + " was recorded as '"
                    + missed.getValue().name() + "', but the flow has ended before it");
        }
    }

    /** Goes to the next step; returns what an earlier attempt has recorded of it. */
    private StepTable.@Nullable Step next(String name) {
        Key.checkName("step", name);
        checkTurn(name);
        if (inDoubt) {
            throw new InDoubt("before " + name);
        }
        if (!names.add(name)) {
            throw new IllegalStateException("Two steps of the flow are named '" + name + "'");
        }
        number++;
        StepTable.Step before = recorded.get(number);
        if (before != null && !before.name().equals(name)) {
            throw new IllegalStateException("The flow was changed: step " + number + " was recorded as '"
                    + before.name() + "', but now it is '" + name + "'");
        }
        running = name;
        return before;
    }

    /** Only the flow's own thread reads what that thread alone has written. */
    private void checkTurn(String name) {
        if (Thread.currentThread() != thread) {
            throw new IllegalStateException(
                    "Step '" + name + "' was called by another thread than the one that runs the flow."
                            + " Call steps one after the other; what may run at the same time goes into one step");
        }
        if (running != null) {
            throw new IllegalStateException("Step '" + name + "' was called inside step '" + running
                    + "'. Call it after that step has returned");
        }
        if (ended) {
            throw new IllegalStateException("Step '" + name + "' was called after its flow had ended");
        }
    }

    private static <R> R decode(Codec<R> codec, StepTable.Step step) {
        byte[] result = step.result();
        return codec.decode(result == null ? new byte[0] : result);
    }

    private <R> void finish(String name, Codec<R> codec, R result) {
        try {
            record(new StepTable.Step(number, name, StepTable.FINISHED, codec.encode(result)), OnLeaseLost.RESUME);
        } catch (Throwable e) {
            inDoubt = true;
            throw e;
        }
    }

    private void record(StepTable.Step step, OnLeaseLost onLeaseLost) {
        for (int tries = 1; ; tries++) {
            try {
                connections.transaction(transaction -> table.bounded(transaction, c -> {
                    table.write(c, of, step);
                    fence(c, onLeaseLost);
                    return true;
                }));
                return;
            } catch (StoreException e) {
                if (step.state() == StepTable.STARTED || tries == RECORD_TRIES_MAX || !pause()) {
                    throw e;
                }
            }
        }
    }

    private boolean pause() {
        try {
            time.await(new CompletableFuture<Void>(), RECORD_PAUSE);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Nothing happened. If that cannot be recorded, and the owner is lost, the entry will be unknown, which is safe. */
    private void erase(NotExecuted proof) {
        try {
            connections.transaction(transaction -> table.bounded(transaction, c -> {
                table.erase(c, of, number);
                fence(c, OnLeaseLost.RESUME);
                return true;
            }));
        } catch (Throwable e) {
            // Whatever it is, the caller must see the proof.
            proof.addSuppressed(e);
        }
    }

    private void fence(Connection connection, OnLeaseLost onLeaseLost) throws SQLException {
        if (!table.fence(connection, owner, onLeaseLost)) {
            throw lost(claim);
        }
    }

    private static LeaseLost lost(OpenClaim claim) {
        return new LeaseLost("the claim of " + claim.key() + ", attempt " + claim.attempt() + ", is lost");
    }
}
