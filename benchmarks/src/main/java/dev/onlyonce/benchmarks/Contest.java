package dev.onlyonce.benchmarks;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;

/** Contenders that take turns, so that whatever else happens on the machine happens to all of them. */
final class Contest {
    private static final int WARM_UP_CALLERS = 64;

    private final Options options;
    private final Map<String, Contender> contenders = new LinkedHashMap<>();

    Contest(Options options) {
        this.options = options;
    }

    /** Does its work for a while, with so many callers at once. */
    @FunctionalInterface
    interface Contender {
        Measured run(ThreadFactory threads, int callers, Duration duration) throws Exception;
    }

    Contest add(String name, Load.Callers callers) {
        return add(name, Integer.MAX_VALUE, callers);
    }

    /** With a bound on the callers, for a contender that needs a connection for each. */
    Contest add(String name, int callersAtMost, Load.Callers contender) {
        return add(
                name,
                (threads, callers, duration) ->
                        new Load(threads, Math.min(callers, callersAtMost)).run(contender, duration));
    }

    /** One that brings its own load. */
    Contest add(String name, Contender contender) {
        contenders.put(name, contender);
        return this;
    }

    /** Gives the compiler time to do its work, with all contenders alike: half of it with many callers, half with one. */
    Contest warmUp() throws Exception {
        Duration half = options.warmUp().dividedBy(2);
        for (Contender contender : contenders.values()) {
            contender.run(Threads.platform(), WARM_UP_CALLERS, half);
            contender.run(Threads.platform(), 1, half);
        }
        return this;
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
            for (Map.Entry<String, Contender> contender : contenders.entrySet()) {
                // The first turn lets caches and pools settle and does not count.
                Duration turn = round == 0 ? options.round().dividedBy(3) : options.round();
                Measured measured = contender.getValue().run(threads, callers, turn);
                if (round > 0) {
                    rounds.computeIfAbsent(contender.getKey(), n -> new ArrayList<>())
                            .add(measured);
                }
            }
        }
        Map<String, Measured> results = new LinkedHashMap<>();
        rounds.forEach((name, measured) -> results.put(name, Measured.together(measured)));
        return new Results(results);
    }
}
