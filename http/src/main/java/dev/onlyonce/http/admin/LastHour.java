package dev.onlyonce.http.admin;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Event;
import dev.onlyonce.store.Time;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** A node's last hour in steps of ten seconds: 360 of them, about a mebibyte when all are busy. Thread-safe. */
final class LastHour {
    static final int STEP_SECONDS = 10;
    static final int STEPS = 360;
    /** Whole steps of the last minute. */
    private static final int MINUTE = 6;

    private static final long STEP_NANOS = TimeUnit.SECONDS.toNanos(STEP_SECONDS);

    private final Time time;
    private final long startNanos;
    /** Since 1970, at the start. */
    private final long startSinceEpoch;
    /** One more than is shown, because the current one is not over. */
    private final AtomicReferenceArray<@Nullable Step> steps = new AtomicReferenceArray<>(STEPS + 1);

    private static final class Step {
        private final long number;
        private final Map<Event.Decision, LongAdder> decisions = new EnumMap<>(Event.Decision.class);
        private final Map<Event.Took.Part, Histogram> durations = new EnumMap<>(Event.Took.Part.class);
        private final LongAdder lapsed = new LongAdder();

        Step(long number) {
            this.number = number;
            for (Event.Decision decision : Event.Decision.values()) {
                decisions.put(decision, new LongAdder());
            }
            for (Event.Took.Part part : Event.Took.Part.values()) {
                durations.put(part, new Histogram());
            }
        }

        LongAdder of(Event.Decision decision) {
            return requireNonNull(decisions.get(decision));
        }

        Histogram of(Event.Took.Part part) {
            return requireNonNull(durations.get(part));
        }
    }

    LastHour(Time time) {
        this.time = time;
        startNanos = time.nanos();
        startSinceEpoch = TimeUnit.MILLISECONDS.toNanos(time.now().toEpochMilli());
    }

    private long nowNanos() {
        return startSinceEpoch + (time.nanos() - startNanos);
    }

    private Step current() {
        long number = nowNanos() / STEP_NANOS;
        int slot = (int) (number % (STEPS + 1));
        Step step = steps.get(slot);
        while (step == null || step.number < number) {
            steps.compareAndSet(slot, step, new Step(number));
            step = steps.get(slot);
        }
        return step;
    }

    void decided(Event.Decision decision) {
        current().of(decision).increment();
    }

    void took(Event.Took.Part part, long nanos) {
        current().of(part).add(nanos);
    }

    void lapsed() {
        current().lapsed.increment();
    }

    private @Nullable Step step(long number) {
        Step step = number < 0 ? null : steps.get((int) (number % (STEPS + 1)));
        return step != null && step.number == number ? step : null;
    }

    /** Decisions a second, of the step under way and the one before it. */
    Map<String, Double> perSecond() {
        long now = nowNanos();
        long number = now / STEP_NANOS;
        double seconds = STEP_SECONDS + (now % STEP_NANOS) / (double) TimeUnit.SECONDS.toNanos(1);
        Map<String, Double> rates = new LinkedHashMap<>();
        for (Event.Decision decision : Event.Decision.values()) {
            long count = count(step(number), decision) + count(step(number - 1), decision);
            rates.put(NodeWatch.kind(decision), Math.round(count / seconds * 100) / 100.0);
        }
        return rates;
    }

    private static long count(@Nullable Step step, Event.Decision decision) {
        return step == null ? 0 : step.of(decision).sum();
    }

    /** Of the last minute; parts without a measurement are missing. */
    Map<String, Overview.Percentiles> percentiles() {
        long number = nowNanos() / STEP_NANOS;
        Map<String, Overview.Percentiles> percentiles = new LinkedHashMap<>();
        for (Event.Took.Part part : Event.Took.Part.values()) {
            Histogram sum = new Histogram();
            for (long i = number - MINUTE; i <= number; i++) {
                Step step = step(i);
                if (step != null) {
                    sum.add(step.of(part));
                }
            }
            Double p50 = sum.percentile(0.5);
            Double p95 = sum.percentile(0.95);
            Double p99 = sum.percentile(0.99);
            if (p50 != null && p95 != null && p99 != null) {
                percentiles.put(name(part), new Overview.Percentiles(p50, p95, p99));
            }
        }
        return percentiles;
    }

    private static String name(Event.Took.Part part) {
        return part == Event.Took.Part.EXECUTE ? "handler" : part.name().toLowerCase(Locale.ROOT);
    }

    /** How many leases this node swept. */
    long lapsedLeases() {
        long number = nowNanos() / STEP_NANOS;
        long sum = 0;
        for (long i = number - STEPS; i <= number; i++) {
            Step step = step(i);
            sum += step == null ? 0 : step.lapsed.sum();
        }
        return sum;
    }

    /** The steps that are over, from the one that contains {@code since}, in seconds since 1970. */
    Series series(long since) {
        long end = nowNanos() / STEP_NANOS;
        long begin = Math.min(end, Math.max(end - STEPS, since / STEP_SECONDS));
        Map<Event.Decision, List<Long>> kinds = new EnumMap<>(Event.Decision.class);
        Map<Event.Took.Part, List<@Nullable Double>> parts = new EnumMap<>(Event.Took.Part.class);
        for (long number = begin; number < end; number++) {
            Step step = step(number);
            for (Event.Decision decision : Event.Decision.values()) {
                kinds.computeIfAbsent(decision, it -> new ArrayList<>()).add(count(step, decision));
            }
            for (Event.Took.Part part : Event.Took.Part.values()) {
                parts.computeIfAbsent(part, it -> new ArrayList<>())
                        .add(step == null ? null : step.of(part).percentile(0.95));
            }
        }
        Map<String, List<Long>> byKind = new LinkedHashMap<>();
        kinds.forEach((decision, counts) -> byKind.put(NodeWatch.kind(decision), counts));
        Map<String, List<@Nullable Double>> byPart = new LinkedHashMap<>();
        parts.forEach((part, millis) -> byPart.put(name(part), millis));
        return new Series(STEP_SECONDS, begin * STEP_SECONDS, byKind, byPart);
    }
}
