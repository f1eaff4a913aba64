package dev.onlyonce.check;

import static dev.onlyonce.check.Check.LOSERS;
import static dev.onlyonce.check.Check.RACE;
import static dev.onlyonce.check.Check.WHILE_RUNNING;

import dev.onlyonce.check.wire.RawRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Requests at the same time. */
final class RaceProbes {
    private static final int RACERS = 8;
    private static final int ROUNDS = 2;

    private RaceProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.of(RACERS + 1, RaceProbes::race, RACE, LOSERS),
                Probe.of(2 * ROUNDS, RaceProbes::whileRunning, WHILE_RUNNING));
    }

    private static void race(Session session, Results results) throws CannotCheck {
        Tally tally = session.tally();
        RawRequest request = session.request(Session.newKey());
        List<RoundTrip> trips = new ArrayList<>(session.atOnce(Collections.nCopies(RACERS, request)));
        RoundTrip winner =
                trips.stream().filter(RoundTrip::isSuccess).findFirst().orElse(trips.get(0));
        RoundTrip retry = session.settled(request);
        trips.add(retry);
        RoundTrip odd = trips.stream()
                .filter(trip -> trip.isSuccess() && !trip.identity().equals(winner.identity()))
                .findFirst()
                .orElse(retry);
        if (tally.isNot(1, trips)) {
            results.fail(RACE, tally.said(1, trips) + " for " + RACERS + " simultaneous requests", winner, odd);
        } else if (!retry.isSuccess()) {
            results.fail(RACE, "after the race a retry got " + retry.brief(), winner, retry);
        } else {
            results.pass(RACE, tally.said(1, trips) + " for " + RACERS + " simultaneous requests");
        }
        RoundTrip bad =
                trips.stream().filter(trip -> !isGoodLoser(trip)).findFirst().orElse(null);
        if (bad != null) {
            results.fail(LOSERS, "a duplicate got " + bad.brief() + retryAfter(bad), winner, bad);
        } else {
            long waited = trips.stream().filter(RoundTrip::isSuccess).count() - 2;
            results.pass(
                    LOSERS,
                    Math.max(0, waited) + " got the answer, "
                            + trips.stream().filter(RoundTrip::isRunning).count() + " got 409 or 202 with Retry-After");
        }
    }

    private static boolean isGoodLoser(RoundTrip trip) {
        return trip.isSuccess() || (trip.isRunning() && trip.header("Retry-After") != null);
    }

    private static String retryAfter(RoundTrip trip) {
        return trip.isRunning() ? " without Retry-After" : "";
    }

    private static void whileRunning(Session session, Results results) throws CannotCheck {
        for (int round = 0; round < ROUNDS; round++) {
            Tally tally = session.tally();
            RawRequest one = session.request(Session.newKey());
            List<RoundTrip> trips =
                    session.atOnce(List.of(one, one.body(session.plan().otherBody())));
            RoundTrip a = trips.get(0);
            RoundTrip b = trips.get(1);
            boolean oneRefused = (a.isSuccess() && b.isRefused()) || (b.isSuccess() && a.isRefused());
            if (a.isSuccess() && b.isSuccess()) {
                results.fail(WHILE_RUNNING, "both requests got an answer, " + tally.said(1, trips), a, b);
            } else if (!oneRefused) {
                results.fail(WHILE_RUNNING, "one got " + a.brief() + ", the other " + b.brief(), a, b);
            } else if (tally.isNot(1, trips)) {
                results.fail(WHILE_RUNNING, tally.said(1, trips) + " for two different requests with one key", a, b);
            }
        }
        results.pass(WHILE_RUNNING, "one ran, the other was refused, in " + ROUNDS + " rounds");
    }
}
