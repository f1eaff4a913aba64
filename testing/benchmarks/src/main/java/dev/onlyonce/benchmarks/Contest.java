package dev.onlyonce.benchmarks;

import static java.util.Objects.requireNonNull;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** Contenders that take turns, so that whatever else happens on the machine happens to all of them. */
final class Contest {
    private static final int WARM_UP_CALLERS = 64;
    private static final int WARM_UP_TURNS_MAX = 4;
    /** Compiling for less than this part of the time changes no result. */
    private static final int COMPILING_PART = 20;

    private final Options options;
    private final Map<String, Load.Callers> contenders = new LinkedHashMap<>();
    private final Map<String, Integer> callersMax = new LinkedHashMap<>();

    Contest(Options options) {
        this.options = options;
    }

    Contest add(String name, Load.Callers callers) {
        return add(name, Integer.MAX_VALUE, callers);
    }

    /** With a bound on the callers, for a contender that needs a connection for each. */
    Contest add(String name, int callersAtMost, Load.Callers callers) {
        contenders.put(name, callers);
        callersMax.put(name, callersAtMost);
        return this;
    }

    /**
     * Gives the compiler time to do its work, with all contenders alike: half of it with many callers, half with one. Goes on until the
     * compiler has little left to do: the more code a contender has, the longer that takes.
     */
    Contest warmUp() throws Exception {
        for (int turn = 0; turn < WARM_UP_TURNS_MAX; turn++) {
            long begun = System.nanoTime();
            long compiled = compilingMillis();
            warmUpOnce();
            long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
            if (compilingMillis() - compiled < tookMillis / COMPILING_PART) {
                break;
            }
        }
        return this;
    }

    private void warmUpOnce() throws Exception {
        Duration half = options.warmUp().dividedBy(2);
        for (Map.Entry<String, Load.Callers> contender : contenders.entrySet()) {
            int callers = Math.min(WARM_UP_CALLERS, callersMax.getOrDefault(contender.getKey(), WARM_UP_CALLERS));
            new Load(Threads.platform(), callers).run(contender.getValue(), half);
            new Load(Threads.platform(), 1).run(contender.getValue(), half);
        }
    }

    private static long compilingMillis() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }

    /** What each contender did. */
    record Results(Map<String, Measured> byName) {
        Measured of(String name) {
            return requireNonNull(byName.get(name), name);
        }
    }

    Results run(ThreadFactory threads, int callers) throws Exception {
        Map<String, List<Measured>> rounds = new LinkedHashMap<>();
        for (int round = 0; round <= options.rounds(); round++) {
            for (Map.Entry<String, Load.Callers> contender : contenders.entrySet()) {
                String name = contender.getKey();
                Load load = new Load(threads, Math.min(callers, callersMax.getOrDefault(name, callers)));
                // The first turn lets caches and pools settle and does not count.
                Duration turn = round == 0 ? options.round().dividedBy(3) : options.round();
                Measured measured = load.run(contender.getValue(), turn);
                if (round > 0) {
                    rounds.computeIfAbsent(name, n -> new ArrayList<>()).add(measured);
                }
            }
        }
        Map<String, Measured> results = new LinkedHashMap<>();
        rounds.forEach((name, measured) -> results.put(name, Measured.together(measured)));
        return new Results(results);
    }
}
