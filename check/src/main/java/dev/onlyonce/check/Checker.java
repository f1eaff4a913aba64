package dev.onlyonce.check;

import dev.onlyonce.check.CheckResult.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Checks an API from outside.
 *
 * <ol>
 *   <li>A first request must work; whether the API wants its keys in quotation marks is found out here.
 *   <li>Each {@link Probe} sends some requests with keys of its own and decides one or more checks.
 *   <li>The replay that must have a new {@code Date} comes last, so that nobody waits for the clock for long.
 * </ol>
 */
public final class Checker {
    private Checker() {}

    /** Runs a plan; {@code progress} receives the id of each check before it begins. Blocks. */
    public static CheckReport run(Plan plan, Consumer<String> progress) throws CannotCheck {
        Results results = new Results();
        try (Session session = new Session(plan)) {
            FirstRequest first = FirstRequest.send(session);
            for (Probe probe : probes(first)) {
                if (!Collections.disjoint(probe.checks(), plan.checks())) {
                    progress.accept(probe.checks().get(0).id());
                    probe.script().run(session, results);
                }
            }
        }
        return new CheckReport(plan.url(), plan.counter() != null, inOrder(plan.checks(), results));
    }

    private static List<CheckResult> inOrder(Set<Check> selected, Results results) {
        List<CheckResult> all = new ArrayList<>();
        for (Check check : Check.values()) {
            CheckResult result = results.get(check);
            if (!selected.contains(check)) {
                all.add(new CheckResult(check, Kind.NOT_APPLICABLE, "not selected", List.of()));
            } else if (result == null) {
                throw new IllegalStateException("The check " + check.id() + " has no result.");
            } else {
                all.add(result);
            }
        }
        return all;
    }

    static int effectsMax(Plan plan) {
        return FirstRequest.EFFECTS_MAX
                + probes(FirstRequest.NONE).stream()
                        .filter(probe -> !Collections.disjoint(probe.checks(), plan.checks()))
                        .mapToInt(Probe::effectsMax)
                        .sum();
    }

    private static List<Probe> probes(FirstRequest first) {
        List<Probe> probes = new ArrayList<>();
        probes.addAll(RetryProbes.early(first));
        probes.addAll(RaceProbes.all());
        probes.addAll(ReuseProbes.all());
        probes.addAll(KeyProbes.all());
        probes.addAll(BrokenConnectionProbes.all());
        probes.addAll(ErrorProbes.all());
        probes.addAll(FramingProbes.all());
        probes.addAll(RetryProbes.late(first));
        return probes;
    }
}
