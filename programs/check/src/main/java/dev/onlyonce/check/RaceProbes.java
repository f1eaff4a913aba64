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
    /** A race that is lost in one of five tries is found in 996 of 1000 runs. */
    private static final int ROUNDS = 5;

    private static final int KEYS = 5;
    private static final int RACERS = 6;
    private static final int PAIRS = 2;

    private RaceProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.of(ROUNDS * KEYS * (RACERS + 1), RaceProbes::races, RACE, LOSERS),
                Probe.of(2 * PAIRS, RaceProbes::whileRunning, WHILE_RUNNING));
    }

    /** Several keys at once, so that the API is under load too. */
    private static void races(Session session, Results results) throws CannotCheck {
        int waited = 0;
        int refused = 0;
        for (int round = 0; round < ROUNDS && results.get(RACE) == null && !session.isSpent(); round++) {
            List<RawRequest> requests = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                requests.addAll(Collections.nCopies(RACERS, session.request(Session.newKey())));
            }
            Tally tally = session.tally();
            List<RoundTrip> trips = new ArrayList<>(session.atOnce(requests));
            for (int key = 0; key < KEYS; key++) {
                List<RoundTrip> own = List.copyOf(trips.subList(key * RACERS, (key + 1) * RACERS));
                RoundTrip retry = session.settled(requests.get(key * RACERS));
                trips.add(retry);
                judge(session, results, own, retry);
                waited += (int) own.stream().filter(RoundTrip::isSuccess).count() - 1;
                refused += (int) own.stream().filter(RoundTrip::isRunning).count();
            }
            if (tally.isNot(KEYS, trips)) {
                String effects = tally.said(KEYS, trips);
                results.fail(RACE, effects + " for " + KEYS + " keys at once", trips.get(0), trips.get(1));
            }
        }
        results.pass(RACE, "one effect for each of " + ROUNDS * KEYS + " keys, with " + RACERS + " requests each");
        results.pass(LOSERS, Math.max(0, waited) + " got the answer, " + refused + " got 409 or 202");
    }

    private static void judge(Session session, Results results, List<RoundTrip> trips, RoundTrip retry) {
        RoundTrip winner =
                trips.stream().filter(RoundTrip::isSuccess).findFirst().orElse(trips.get(0));
        RoundTrip odd = trips.stream()
                .filter(trip -> trip.isSuccess() && !trip.identity().equals(winner.identity()))
                .findFirst()
                .orElse(null);
        if (odd != null) {
            results.fail(RACE, "two of " + RACERS + " simultaneous requests had an effect", winner, odd);
        } else if (!retry.isSuccess()) {
            results.fail(RACE, "after the race a retry got " + retry.brief(), winner, retry);
        }
        boolean wantsRetryAfter = session.plan().standard() == Standard.STRICT;
        trips.stream()
                .filter(trip -> !isGoodLoser(trip, wantsRetryAfter))
                .findFirst()
                .ifPresent(
                        bad -> results.fail(LOSERS, "a duplicate got " + bad.brief() + retryAfter(bad), winner, bad));
    }

    private static boolean isGoodLoser(RoundTrip trip, boolean wantsRetryAfter) {
        return trip.isSuccess() || (trip.isRunning() && (trip.header("Retry-After") != null || !wantsRetryAfter));
    }

    private static String retryAfter(RoundTrip trip) {
        return trip.isRunning() ? " without Retry-After" : "";
    }

    private static void whileRunning(Session session, Results results) throws CannotCheck {
        for (int round = 0; round < PAIRS; round++) {
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
        results.pass(WHILE_RUNNING, "one ran, the other was refused, in " + PAIRS + " rounds");
    }
}
