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
 *   <li>Effects of a probe that are seen late are awaited before the next one begins.
 *   <li>What needs time comes last: the replay that must have a new {@code Date}, the key that must still be known, and effects
 *       that nobody asked for.
 *   <li>Every request but those of the counter is taken from a budget. When it is used up, the run ends.
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
                    run(probe, session, results);
                }
            }
        }
        return new CheckReport(plan.url(), plan.counter() != null, inOrder(plan, results));
    }

    private static void run(Probe probe, Session session, Results results) throws CannotCheck {
        Results own = new Results();
        probe.script().run(session, own);
        if (session.isSpent()) {
            String why = "all " + session.plan().requestsMax() + " requests that are allowed have been sent";
            probe.checks().forEach(check -> results.skip(check, why));
        } else {
            results.addAll(own);
            session.account();
        }
    }

    private static List<CheckResult> inOrder(Plan plan, Results results) {
        Set<Check> selected = plan.checks();
        List<CheckResult> all = new ArrayList<>();
        for (Check check : Check.values()) {
            CheckResult result = results.get(check);
            if (!selected.contains(check)) {
                all.add(new CheckResult(check, Kind.NOT_APPLICABLE, "not selected", List.of()));
            } else if (result == null) {
                throw new IllegalStateException("The check " + check.id() + " has no result.");
            } else {
                all.add(result.under(plan.standard()));
            }
        }
        return all;
    }

    /** Twice what the probes send: an API may ask for some requests to be sent again later. */
    static int requestsMax(Plan plan) {
        return FirstRequest.REQUESTS
                + 2
                        * probes(FirstRequest.NONE).stream()
                                .filter(probe -> !Collections.disjoint(probe.checks(), plan.checks()))
                                .mapToInt(Probe::requests)
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
