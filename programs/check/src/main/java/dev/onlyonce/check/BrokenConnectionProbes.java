package dev.onlyonce.check;

import static dev.onlyonce.check.Check.HALF_SENT;
import static dev.onlyonce.check.Check.HANG_UP;
import static dev.onlyonce.check.Check.SLOW_REQUEST;

import dev.onlyonce.check.wire.RawRequest;
import dev.onlyonce.check.wire.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Clients that hang up, or take their time. */
final class BrokenConnectionProbes {
    /** Enough for a server to see the head; a server that makes the duplicate wait for it does so for longer. */
    private static final Duration HEAD_START = Duration.ofMillis(200);

    private BrokenConnectionProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.of(3, BrokenConnectionProbes::hangUp, HANG_UP),
                Probe.of(3, BrokenConnectionProbes::slow, SLOW_REQUEST),
                Probe.of(2, BrokenConnectionProbes::halfSent, HALF_SENT));
    }

    private static void hangUp(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        Tally tally = session.tally();
        RoundTrip lost = sent(session, request, wire -> wire.writeAll(request));
        RoundTrip retry = session.settled(request);
        RoundTrip again = session.settled(request);
        List<RoundTrip> trips = List.of(retry, again);
        if (!retry.isSuccess()) {
            results.fail(HANG_UP, "the retry got " + retry.brief(), lost, retry);
        } else if (tally.isNot(1, trips)) {
            results.fail(HANG_UP, tally.said(1, trips), lost, retry);
        } else if (!again.sameEffect(retry)) {
            results.fail(HANG_UP, "two retries got different answers", retry, again);
        } else {
            results.pass(HANG_UP, "the retry got " + retry.brief());
        }
    }

    private static void halfSent(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        Tally tally = session.tally();
        RoundTrip half = sent(session, request, wire -> wire.writeHalf(request));
        RoundTrip whole = session.settled(request);
        if (!whole.isSuccess()) {
            results.fail(HALF_SENT, "the whole request got " + whole.brief(), half, whole);
        } else if (tally.isNot(1, List.of(whole))) {
            results.fail(HALF_SENT, tally.said(1, List.of(whole)), half, whole);
        } else {
            results.pass(HALF_SENT, "the whole request got " + whole.brief());
        }
    }

    @FunctionalInterface
    private interface Writing {
        void to(Wire wire) throws IOException;
    }

    /** Writes and hangs up. */
    private static RoundTrip sent(Session session, RawRequest request, Writing writing) {
        try (Wire wire = session.open(request)) {
            writing.to(wire);
            return new RoundTrip(request, null, "the client hung up");
        } catch (IOException e) {
            return new RoundTrip(request, null, Session.reason(e));
        }
    }

    private static void slow(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        Tally tally = session.tally();
        List<RoundTrip> trips = new ArrayList<>();
        try (Wire wire = session.open(request)) {
            wire.writeHalf(request);
            // The server has time to read the head; nobody can see from outside that it has.
            Session.waitUntil(System.nanoTime() + HEAD_START.toNanos());
            CompletableFuture<RoundTrip> duplicate = session.begin(request);
            Session.isDone(duplicate, HEAD_START);
            wire.writeOtherHalf(request);
            trips.add(session.answer(wire, request));
            trips.add(session.join(duplicate));
        } catch (IOException e) {
            trips.add(new RoundTrip(request, null, Session.reason(e)));
        }
        trips.add(session.settled(request));
        RoundTrip slow = trips.get(0);
        RoundTrip last = trips.get(trips.size() - 1);
        if (tally.isNot(1, trips)) {
            results.fail(SLOW_REQUEST, tally.said(1, trips), slow, trips.get(1));
        } else if (!last.isSuccess()) {
            results.fail(SLOW_REQUEST, "a retry of both got " + last.brief(), slow, last);
        } else {
            results.pass(
                    SLOW_REQUEST,
                    "the slow one got " + slow.brief() + ", the fast one "
                            + trips.get(1).brief());
        }
    }
}
