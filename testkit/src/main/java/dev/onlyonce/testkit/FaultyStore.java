package dev.onlyonce.testkit;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Store;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store with planned faults: at the Nth call, at the Nth call of a verb, or at every call until it is healed.
 * Calls are counted from 1. With one caller at a time it is deterministic: the same calls meet the same faults.
 *
 * <pre>{@code
 * FaultyStore store = new FaultyStore(new MemoryStore(time));
 * store.failAt(2, Fault.AFTER);           // the second call, whatever it is, is done and its acknowledgement lost
 * store.failAt(Verb.RENEW, 1, Fault.BEFORE);
 * }</pre>
 *
 * <p>Any number of threads may use it. {@link #close} lets hanging calls go and closes the store beneath.
 */
public final class FaultyStore extends ForwardingStore {
    /** Longer than any test takes: a test that hangs fails instead. */
    private static final long PATIENCE_SECONDS = 120;

    private final Map<Integer, Fault> atCall = new HashMap<>();
    private final Map<Verb, Map<Integer, Fault>> atVerb = new EnumMap<>(Verb.class);
    private final Map<Verb, Fault> always = new EnumMap<>(Verb.class);
    private final List<Verb> calls = new ArrayList<>();
    private int hanging;
    private int released;

    private final HeldRows rows;

    /** Wraps a store; nothing fails yet. */
    public FaultyStore(Store store) {
        this(new HeldRows(store));
    }

    private FaultyStore(HeldRows rows) {
        super(rows);
        this.rows = rows;
    }

    /** Somebody else holds the row from now on; the store skips it and answers for it alone that it is busy. */
    public void hold(EntryId id) {
        rows.skip(id);
    }

    /** Somebody else holds the row from now on, and the store cannot tell which it is: every call with it fails as busy. */
    public void lock(EntryId id) {
        rows.lock(id);
    }

    /** The server that has the row is overloaded from now on; the store answers for that row alone that it cannot take it. */
    public void overload(EntryId id) {
        rows.overload(id);
    }

    /** Nobody else holds the row any more, and its server is well. */
    public void letGo(EntryId id) {
        rows.letGo(id);
    }

    /** The call with this number fails, whatever it is. */
    public synchronized void failAt(int call, Fault fault) {
        atCall.put(call, fault);
    }

    /** The call with this number among those of the verb fails. */
    public synchronized void failAt(Verb verb, int call, Fault fault) {
        atVerb.computeIfAbsent(verb, v -> new HashMap<>()).put(call, fault);
    }

    /** Every call fails from now on. */
    public synchronized void failAlways(Fault fault) {
        for (Verb verb : Verb.values()) {
            always.put(verb, fault);
        }
    }

    /** Every call of the verb fails from now on. */
    public synchronized void failAlways(Verb verb, Fault fault) {
        always.put(verb, fault);
    }

    /** No call fails from now on, no row is held, and calls that hang are released. */
    public synchronized void heal() {
        atCall.clear();
        atVerb.clear();
        always.clear();
        rows.letAllGo();
        release();
    }

    /** How many calls there were, those that failed included. */
    public synchronized int calls() {
        return calls.size();
    }

    /** How many calls of this verb there were. */
    public synchronized int calls(Verb verb) {
        return (int) calls.stream().filter(verb::equals).count();
    }

    /** The verbs of all calls, in their order. */
    public synchronized List<Verb> log() {
        return List.copyOf(calls);
    }

    /** Lets the calls that hang now go on. */
    public synchronized void release() {
        released++;
        notifyAll();
    }

    /**
     * Blocks until at least {@code calls} calls hang.
     *
     * @throws IllegalStateException if that does not happen within two minutes
     */
    public synchronized void untilHanging(int calls) throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (hanging < calls) {
            long left = giveUp - System.nanoTime();
            if (left <= 0) {
                throw new IllegalStateException("only " + hanging + " of " + calls + " calls hang");
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
    }

    @Override
    <T> T around(Verb verb, Object asked, Supplier<T> call) {
        int number;
        Fault fault;
        synchronized (this) {
            calls.add(verb);
            number = calls.size();
            fault = fault(verb, number);
        }
        if (fault == null) {
            return call.get();
        }
        if (fault.isHanging() && fault != Fault.HANGS_AFTER) {
            hang();
        }
        if (!fault.isDone()) {
            fault.raise(verb, number);
            throw new IllegalStateException("a call that is not done has no answer");
        }
        if (fault == Fault.PARTLY && call instanceof ItemsCall<?, ?> items) {
            var unused = items.only(position -> position % 2 == 0).get();
            fault.raise(verb, number);
        }
        T answer = call.get();
        if (fault == Fault.HANGS_AFTER) {
            hang();
        }
        fault.raise(verb, number);
        return answer;
    }

    private @Nullable Fault fault(Verb verb, int call) {
        Fault fault = atCall.get(call);
        if (fault == null) {
            fault = atVerb.getOrDefault(verb, Map.of()).get(calls(verb));
        }
        return fault == null ? always.get(verb) : fault;
    }

    /** Interrupts are kept for later, as a driver that waits for its socket does. */
    private synchronized void hang() {
        int until = released + 1;
        boolean interrupted = false;
        hanging++;
        notifyAll();
        while (released < until) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        hanging--;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        heal();
        super.close();
    }
}
