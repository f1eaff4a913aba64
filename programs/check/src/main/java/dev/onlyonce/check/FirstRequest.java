package dev.onlyonce.check;

import dev.onlyonce.check.wire.RawRequest;
import java.net.URI;

/**
 * A first request that worked.
 *
 * @param at when its answer came, by {@link System#nanoTime}
 */
record FirstRequest(RoundTrip trip, long at) {
    /** The first, once more if bare keys are refused, and a second one to compare with. */
    static final int REQUESTS = 3;

    /** For counting what probes could do, without sending anything. */
    static final FirstRequest NONE = new FirstRequest(
            new RoundTrip(RawRequest.get(URI.create("http://localhost/"), java.util.List.of()), null, "not sent"), 0);

    static FirstRequest send(Session session) throws CannotCheck {
        long before = session.count();
        String key = Session.newKey();
        RoundTrip trip = session.settled(session.request(key));
        if (trip.status() == 400) {
            session.quoteKeys();
            RoundTrip again = session.send(session.request(key));
            trip = again.isSuccess() ? again : trip;
        }
        if (trip.answer() == null) {
            throw new CannotCheck("No answer from " + session.plan().url() + ": " + trip.trouble());
        }
        if (!trip.isSuccess()) {
            throw new CannotCheck("A first request with a new key must work, but "
                    + session.plan().url() + " answered "
                    + trip.status() + ". Correct --body or --header.\n\n"
                    + trip.request().shown() + "\n\n"
                    + trip.shownAnswer());
        }
        FirstRequest first = new FirstRequest(trip, System.nanoTime());
        if (session.plan().counter() != null
                && !session.awaitCount(before + 1, session.plan().patience())) {
            throw new CannotCheck(
                    "The first request worked, but " + session.plan().counter().url()
                            + " does not count it: it still says " + session.count() + ". Correct --count.");
        }
        if (session.plan().counter() == null) {
            RoundTrip second = session.send(session.request(Session.newKey()));
            session.distinguishable(second.isSuccess() && !second.identity().equals(trip.identity()));
        }
        return first;
    }
}
