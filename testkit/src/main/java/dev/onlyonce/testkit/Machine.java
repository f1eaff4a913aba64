package dev.onlyonce.testkit;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** One life of a node: from its start to its crash, after which every call that it makes unwinds. */
final class Machine implements Time {
    /** The engine's pauses are random within their bounds; rounding them up to this makes them the same every time. */
    private static final long GRAIN_NANOS = Duration.ofSeconds(1).toNanos();

    /** How long it takes until a thread runs. */
    private static final Duration MOMENT = Duration.ofMillis(5);

    private final World world;
    private final String name;
    private final Onlyonce once;
    private boolean dead;
    private long cutOffUntil;
    private Duration wrong = Duration.ZERO;

    /**
     * Starts the node.
     *
     * @param engine builds the engine, given the node's way to the store; it must use this machine as its time
     */
    Machine(World world, String name, Store store, Function<Onlyonce.Builder, Onlyonce> engine) {
        this.world = world;
        this.name = name;
        this.once = engine.apply(
                Onlyonce.builder(new Wire(world, this, store)).node(name).time(this));
        world.note(name, "starts");
    }

    String name() {
        return name;
    }

    Onlyonce once() {
        return once;
    }

    boolean isDead() {
        return dead;
    }

    void crash(String when) {
        world.note(name, "crashes " + when);
        dead = true;
        throw new Crash(name);
    }

    void ensureAlive() {
        if (dead) {
            throw new Crash(name);
        }
    }

    boolean isCutOff() {
        return world.nanos() < cutOffUntil;
    }

    void cutOff(Duration span) {
        world.note(name, "is cut off for " + span);
        cutOffUntil = world.nanos() + span.toNanos();
    }

    void setClockWrong(Duration by) {
        world.note(name, "has a clock wrong by " + by);
        wrong = by;
    }

    @Override
    public Instant now() {
        return world.now().plus(wrong);
    }

    @Override
    public long nanos() {
        return world.nanos();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        boolean[] cancelled = new boolean[1];
        world.after(delay, () -> {
            if (!dead && !cancelled[0]) {
                attempt(task);
            }
        });
        return () -> cancelled[0] = true;
    }

    /** Runs the work as a thread of this machine would: a moment later, unless the machine is dead by then. */
    void run(Runnable work) {
        schedule(MOMENT, work);
    }

    @Override
    public void run(Executor threads, Runnable work) {
        run(work);
    }

    private static void attempt(Runnable task) {
        try {
            task.run();
        } catch (Crash e) {
            // The machine is marked dead; the callers beneath this frame notice by themselves.
        }
    }

    @Override
    public boolean await(CompletableFuture<?> signal, Duration max) throws InterruptedException {
        ensureAlive();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        long grains = (max.toNanos() + GRAIN_NANOS - 1) / GRAIN_NANOS;
        world.pass(Duration.ofNanos(grains * GRAIN_NANOS), signal::isDone);
        ensureAlive();
        return signal.isDone();
    }

    @Override
    public void close() {}
}
