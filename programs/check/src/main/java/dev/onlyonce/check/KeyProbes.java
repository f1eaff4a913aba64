package dev.onlyonce.check;

import static dev.onlyonce.check.Check.KEY_255;
import static dev.onlyonce.check.Check.KEY_256;
import static dev.onlyonce.check.Check.KEY_CONTROL;
import static dev.onlyonce.check.Check.KEY_DISTINCT;
import static dev.onlyonce.check.Check.KEY_EMPTY;
import static dev.onlyonce.check.Check.KEY_LONG;
import static dev.onlyonce.check.Check.KEY_MISSING;
import static dev.onlyonce.check.Check.KEY_QUOTED;
import static dev.onlyonce.check.Check.KEY_TWO_LINES;

import dev.onlyonce.check.wire.RawRequest;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/** Keys that are long, empty, broken or absent. */
final class KeyProbes {
    private static final int LENGTH_MAX = 255;

    private KeyProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.of(2, KeyProbes::quoted, KEY_QUOTED),
                Probe.of(4, KeyProbes::absent, KEY_MISSING, KEY_EMPTY),
                Probe.of(6, KeyProbes::alike, KEY_DISTINCT),
                Probe.of(3, KeyProbes::longest, KEY_255, KEY_256),
                Probe.of(4, KeyProbes::veryLong, KEY_LONG),
                Probe.of(1, KeyProbes::control, KEY_CONTROL),
                Probe.of(1, KeyProbes::twoLines, KEY_TWO_LINES));
    }

    private static void quoted(Session session, Results results) throws CannotCheck {
        String key = Session.newKey();
        RawRequest bare = session.bare().with(Session.KEY, key);
        RawRequest quoted = session.bare().with(Session.KEY, "\"" + key + "\"");
        if (session.quotesKeys()) {
            results.pass(KEY_QUOTED, "only quoted keys are accepted");
            return;
        }
        Tally tally = session.tally();
        RoundTrip first = session.settled(bare);
        RoundTrip second = session.settled(quoted);
        if (second.status() == 400) {
            results.pass(KEY_QUOTED, "only bare keys are accepted");
        } else if (!second.isSuccess()) {
            results.fail(KEY_QUOTED, "the quoted key got " + second.brief(), first, second);
        } else if (tally.isNot(1, List.of(first, second))) {
            results.fail(KEY_QUOTED, "the quoted key is another key than the bare one", first, second);
        } else {
            results.pass(KEY_QUOTED, "both were accepted, as one key");
        }
    }

    private static void absent(Session session, Results results) throws CannotCheck {
        boolean unprotected = eachTime(session, results, KEY_MISSING, session.bare());
        RawRequest empty = session.bare().with(Session.KEY, "");
        RoundTrip first = session.send(empty);
        if (first.isRefused()) {
            results.pass(KEY_EMPTY, "refused with " + first.status());
        } else if (unprotected) {
            eachTime(session, results, KEY_EMPTY, empty);
        } else {
            results.fail(KEY_EMPTY, "it got " + first.brief(), first);
        }
    }

    /** Refused, or an effect each time. Returns whether it runs. */
    private static boolean eachTime(Session session, Results results, Check check, RawRequest request)
            throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip first = session.send(request);
        RoundTrip second = session.send(request);
        List<RoundTrip> trips = List.of(first, second);
        if (first.isClientError() && second.status() == first.status()) {
            results.pass(check, "refused with " + first.status());
        } else if (!first.isSuccess() || !second.isSuccess()) {
            results.fail(check, "it got " + first.brief() + ", then " + second.brief(), first, second);
        } else if (second.isMarked() || tally.isNot(2, trips)) {
            results.fail(check, "the second request got the answer of the first", first, second);
        } else {
            results.pass(check, "runs unprotected, each time");
            return true;
        }
        return false;
    }

    /** Keys that a collation, a trimmed column or a tidy parser takes for one. */
    private static void alike(Session session, Results results) throws CannotCheck {
        String key = Session.newKey();
        String quoted = "\"" + key + "\"";
        List<String> others = List.of(
                session.quotesKeys() ? quoted.toUpperCase(Locale.ROOT) : key.toUpperCase(Locale.ROOT),
                (session.quotesKeys() ? quoted : key).replaceFirst("-", "--"),
                (session.quotesKeys() ? quoted : key).replace("-", ""),
                "\"" + key + " \"",
                "\" " + key + "\"");
        RoundTrip first = session.settled(session.request(key));
        for (String other : others) {
            if (isTakenFor(session, results, KEY_DISTINCT, first, other)) {
                return;
            }
        }
        results.pass(KEY_DISTINCT, "each was refused, or a key of its own");
    }

    /** Whether a request with another key got the answer of the first one: a failure, unless nobody can tell. */
    private static boolean isTakenFor(Session session, Results results, Check check, RoundTrip first, String other)
            throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip twin = session.settled(session.bare().with(Session.KEY, other));
        if (twin.isMarked() || (twin.isSuccess() && tally.isNot(1, List.of(twin)))) {
            results.fail(check, "a request with another key got the answer of the first", first, twin);
            return true;
        }
        boolean same = twin.isSuccess() && session.plan().counter() == null && twin.sameEffect(first);
        if (same && session.tellsEffectsApart()) {
            results.fail(check, "a request with another key got the answer of the first", first, twin);
        }
        return same && session.tellsEffectsApart();
    }

    /** Columns and buffers of 256, 512 or 1,024 characters cut off the end. */
    private static void veryLong(Session session, Results results) throws CannotCheck {
        for (int length : new int[] {257, 1100}) {
            String start = Session.newKey() + "-" + "x".repeat(length);
            String quote = session.quotesKeys() ? "\"" : "";
            RoundTrip first = session.settled(session.request(start.substring(0, length - 1) + "a"));
            if (!first.isSuccess()) {
                results.pass(KEY_LONG, length + " characters are refused with " + first.status());
                return;
            }
            String twin = quote + start.substring(0, length - 1) + "b" + quote;
            if (isTakenFor(session, results, KEY_LONG, first, twin)) {
                return;
            }
        }
        results.pass(KEY_LONG, "keys of 1100 characters were used whole");
    }

    private static void longest(Session session, Results results) throws CannotCheck {
        String start = Session.newKey() + "-" + "x".repeat(LENGTH_MAX);
        String one = start.substring(0, LENGTH_MAX - 1) + "a";
        Tally tally = session.tally();
        RoundTrip first = session.send(session.request(one));
        RoundTrip twin = session.send(session.request(start.substring(0, LENGTH_MAX - 1) + "b"));
        OptionalLong effects = tally.effects(2, List.of(first, twin));
        if (first.isRefused() && twin.isRefused()) {
            results.skip(KEY_255, "refused with " + first.status() + ": the API wants another format of keys");
        } else if (!first.isSuccess() || !twin.isSuccess()) {
            results.fail(KEY_255, "they got " + first.brief() + " and " + twin.brief(), first, twin);
        } else if (twin.isMarked() || (effects.isPresent() && effects.getAsLong() < 2)) {
            results.fail(KEY_255, "the second key got the answer of the first", first, twin);
        } else {
            results.pass(KEY_255, "both were accepted, as two keys");
        }
        longer(session, results, one, first);
    }

    private static void longer(Session session, Results results, String longest, RoundTrip first) throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip longer = session.send(session.request(longest + "c"));
        if (longer.isClientError()) {
            results.pass(KEY_256, "refused with " + longer.status());
        } else if (!longer.isSuccess()) {
            results.fail(KEY_256, "it got " + longer.brief(), first, longer);
        } else if (longer.isMarked()
                || (longer.identity().equals(first.identity()) && tally.isNot(1, List.of(longer)))) {
            results.fail(KEY_256, "it got the answer of its first 255 characters", first, longer);
        } else {
            results.pass(KEY_256, "accepted as a key of its own");
        }
    }

    private static void control(Session session, Results results) throws CannotCheck {
        String key = Session.newKey();
        RawRequest request = session.bare().with(Session.KEY, key.replace('-', '\u0001'));
        refused(session, results, KEY_CONTROL, request);
    }

    private static void twoLines(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey()).plus(Session.KEY, Session.newKey());
        refused(session, results, KEY_TWO_LINES, request);
    }

    /** Refused with a 4xx, or the connection is closed, and there is no effect. */
    private static void refused(Session session, Results results, Check check, RawRequest request) throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip trip = session.send(request);
        if (!trip.isClientError() && trip.answer() != null) {
            results.fail(check, "it got " + trip.brief(), trip);
        } else if (session.plan().counter() != null && tally.isNot(0, List.of(trip))) {
            results.fail(check, "it got " + trip.brief() + " and had an effect all the same", trip);
        } else {
            results.pass(check, trip.answer() == null ? "the connection was closed" : "refused with " + trip.status());
        }
    }
}
