package dev.onlyonce.prove;

import dev.onlyonce.prove.Seen.Asked;
import dev.onlyonce.prove.Seen.Effect;
import dev.onlyonce.prove.Seen.Evicted;
import dev.onlyonce.prove.Seen.Fault;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Everything that was seen in a round. Any number of threads. */
final class History {
    private final long start = System.nanoTime();
    private final ConcurrentLinkedQueue<Seen> all = new ConcurrentLinkedQueue<>();

    void add(Seen seen) {
        all.add(seen);
    }

    void fault(String what) {
        add(new Fault(System.nanoTime(), what));
    }

    /** When the store failed over; 0 if it did not. */
    long failedOver() {
        return of(Fault.class).stream()
                .filter(Fault::isFailover)
                .mapToLong(Fault::begun)
                .max()
                .orElse(0);
    }

    /** When the first failover of the store began; never, if there was none. */
    long failsOver() {
        return of(Fault.class).stream()
                .filter(fault -> fault.what().endsWith(Fault.FAILOVER))
                .mapToLong(Fault::begun)
                .min()
                .orElse(Long.MAX_VALUE);
    }

    <T extends Seen> List<T> of(Class<T> kind) {
        return all.stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .sorted(Comparator.comparingLong(Seen::begun))
                .toList();
    }

    /** What is known about each work. */
    Map<Work, Life> lives() {
        Map<Work, Life> lives = new HashMap<>();
        of(Asked.class).forEach(asked -> life(lives, asked.work()).asked.add(asked));
        of(Effect.class).forEach(effect -> life(lives, effect.work()).effects.add(effect));
        of(Evicted.class)
                .forEach(evicted -> life(lives, evicted.work()).evictions.add(evicted));
        return lives;
    }

    private static Life life(Map<Work, Life> lives, Work work) {
        return lives.computeIfAbsent(work, w -> new Life());
    }

    /** The events about one work, in order of their beginning, each in its own list. */
    static final class Life {
        final List<Asked> asked = new ArrayList<>();
        final List<Effect> effects = new ArrayList<>();
        final List<Evicted> evictions = new ArrayList<>();
    }

    /** What happened to a work, and what the nemesis did meanwhile, a line for each event. */
    List<String> timeline(Work work) {
        List<Seen> own = all.stream()
                .filter(seen -> !(seen instanceof Fault) && seen.isAbout(work))
                .toList();
        long from = own.stream().mapToLong(Seen::begun).min().orElse(start) - 5_000_000_000L;
        // The effects of transactions have no time; they come last.
        long to = own.stream()
                        .mapToLong(Seen::begun)
                        .filter(at -> at != Checker.NO_TIME)
                        .max()
                        .orElse(start)
                + 1_000_000_000L;
        return all.stream()
                .filter(seen -> seen.isAbout(work)
                        && seen.begun() >= from
                        && (seen.begun() <= to || seen.begun() == Checker.NO_TIME))
                .sorted(Comparator.comparingLong(Seen::begun))
                .map(seen -> at(seen.begun()) + "  " + seen
                        + (seen instanceof Asked asked ? "  (answered at " + at(asked.ended()) + ")" : ""))
                .toList();
    }

    String at(long nanos) {
        return nanos == Checker.NO_TIME ? "   in table" : "%9.3f s".formatted((nanos - start) / 1e9);
    }
}
