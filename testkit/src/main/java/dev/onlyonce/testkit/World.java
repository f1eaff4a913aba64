package dev.onlyonce.testkit;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * One thread's world: its time, what is going to happen, chance, and a record of what did. Whoever lets time pass runs,
 * on top of its own stack frame, what falls due meanwhile; that is how one thread interleaves many.
 */
final class World {
    /** Deeper, time passes without anything happening: the others were slow. */
    private static final int DEPTH_MAX = 6;
    /** Deeper than customers and machines can nest: nobody is slow where only one kind of trouble is looked at. */
    private static final int DEPTH_ALONE = 60;

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final long seed;
    private final Random random;
    private final boolean traced;
    private final Set<Trouble> troubles;
    private final List<String> trace = new ArrayList<>();
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final Map<String, Integer> occurrences = new HashMap<>();
    private long nanos;
    private long scheduled;
    private int depth;
    private boolean healed;

    World(long seed, boolean traced, Set<Trouble> troubles) {
        this.troubles = troubles;
        this.seed = seed;
        this.random = new Random(seed);
        this.traced = traced;
    }

    private record Event(long at, long order, Runnable run) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(at, other.at);
            return byTime == 0 ? Long.compare(order, other.order) : byTime;
        }
    }

    Instant now() {
        return START.plusNanos(nanos);
    }

    long nanos() {
        return nanos;
    }

    /** Whether nothing fails any more. */
    boolean isHealed() {
        return healed;
    }

    void heal() {
        note("world", "healed");
        healed = true;
    }

    void after(Duration delay, Runnable run) {
        events.add(new Event(nanos + delay.toNanos(), scheduled++, run));
    }

    void pass(Duration span) {
        pass(span, () -> false);
    }

    /** Lets time pass until the span is over or the condition holds. */
    void pass(Duration span, BooleanSupplier done) {
        long until = nanos + span.toNanos();
        depth++;
        int deepest = troubles.size() == 1 ? DEPTH_ALONE : DEPTH_MAX;
        while (depth <= deepest && !done.getAsBoolean() && !events.isEmpty() && events.peek().at <= until) {
            Event event = events.remove();
            nanos = Math.max(nanos, event.at);
            event.run.run();
        }
        depth--;
        if (!done.getAsBoolean()) {
            nanos = Math.max(nanos, until);
        }
    }

    /** Whether an event with this frequency happens now; never after healing. */
    boolean oneIn(int times) {
        return !healed && random.nextInt(times) == 0;
    }

    /** The same for trouble of this kind. */
    boolean oneIn(int times, Trouble trouble) {
        return has(trouble) && oneIn(times);
    }

    boolean has(Trouble trouble) {
        return troubles.contains(trouble);
    }

    /** Whether this is all that goes wrong, so that whatever it does not explain is a fault. */
    boolean hasOnly(Trouble trouble) {
        return troubles.size() == 1 && has(trouble);
    }

    int pick(int bound) {
        return random.nextInt(bound);
    }

    Duration upTo(Duration max) {
        return Duration.ofMillis(random.nextInt((int) max.toMillis()));
    }

    /**
     * Chance that depends on what it decides and how often that was decided before, but not on what was decided in between:
     * the engine goes through its claims in no particular order.
     */
    Random chance(String what) {
        int occurrence = occurrences.merge(what, 1, Integer::sum);
        long mixed = (seed * 0x9E3779B97F4A7C15L)
                ^ (what.hashCode() * 0xC2B2AE3D27D4EB4FL)
                ^ (occurrence * 0x165667B19E3779F9L);
        return new Random(mixed);
    }

    void note(String who, String what) {
        if (traced) {
            trace.add("%9.3f %s%-8s %s".formatted(nanos / 1e9, "  ".repeat(depth), who, what));
        }
    }

    List<String> trace() {
        return trace;
    }
}
