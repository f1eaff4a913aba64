package dev.onlyonce.check;

import static dev.onlyonce.check.Check.DATE;
import static dev.onlyonce.check.Check.EXPIRES;
import static dev.onlyonce.check.Check.LATE_EFFECT;
import static dev.onlyonce.check.Check.MARKED;
import static dev.onlyonce.check.Check.REMEMBERED;
import static dev.onlyonce.check.Check.REPLAY;
import static dev.onlyonce.check.Check.SET_COOKIE;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A request, and the same once more. */
final class RetryProbes {
    /** What describes the body or the resource; other headers may well differ between two answers. */
    private static final List<String> STORED = List.of(
            "Content-Type",
            "Content-Encoding",
            "Content-Language",
            "Content-Location",
            "ETag",
            "Last-Modified",
            "Link",
            "Location");

    /** HTTP dates have whole seconds. */
    private static final Duration DATE_STEP = Duration.ofMillis(1100);

    /** More than a careless cache holds. */
    private static final int OTHER_KEYS = 16;

    private RetryProbes() {}

    static List<Probe> early(FirstRequest first) {
        return List.of(Probe.of(
                1, (session, results) -> replay(session, first.trip(), results), REPLAY, MARKED, EXPIRES, SET_COOKIE));
    }

    static List<Probe> late(FirstRequest first) {
        return List.of(
                Probe.of(OTHER_KEYS + 1, (session, results) -> remembered(session, first, results), REMEMBERED),
                Probe.of(1, (session, results) -> date(session, first, results), DATE),
                Probe.of(0, (session, results) -> lateEffect(session, first, results), LATE_EFFECT));
    }

    private static void remembered(Session session, FirstRequest first, Results results) throws CannotCheck {
        for (int i = 0; i < OTHER_KEYS; i++) {
            session.send(session.request(Session.newKey()));
        }
        Session.waitUntil(first.at() + session.plan().rememberedFor().toNanos());
        session.awaitLateEffects();
        Tally tally = session.tally();
        RoundTrip retry = session.settled(first.trip().request());
        boolean counted = session.plan().counter() != null;
        boolean again = counted ? tally.isNot(0, List.of(retry)) : session.tellsEffectsApart();
        if (!retry.isSuccess()) {
            results.fail(REMEMBERED, "the retry got " + retry.brief(), first.trip(), retry);
        } else if (counted ? again : again && !retry.sameEffect(first.trip())) {
            results.fail(REMEMBERED, "the retry ran as a new request", first.trip(), retry);
        } else {
            String after = session.plan().rememberedFor().toSeconds() + " s and at least " + OTHER_KEYS + " other keys";
            results.pass(REMEMBERED, "after " + after + " the retry got " + retry.brief());
        }
    }

    private static void lateEffect(Session session, FirstRequest first, Results results) throws CannotCheck {
        if (session.plan().counter() == null) {
            results.skip(LATE_EFFECT, "give --count");
            return;
        }
        Duration quiet = session.plan().quietFor();
        Session.waitUntil(System.nanoTime() + quiet.toNanos());
        long late = session.count() - session.accounted();
        if (late > 0) {
            String many = late + (late == 1 ? " effect" : " effects");
            results.fail(LATE_EFFECT, many + " after all answers, within " + quiet.toSeconds() + " s", first.trip());
        } else {
            results.pass(LATE_EFFECT, "none within " + quiet.toSeconds() + " s");
        }
    }

    private static void replay(Session session, RoundTrip first, Results results) throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip retry = session.settled(first.request());
        String difference = difference(first, retry);
        if (session.plan().counter() != null && tally.isNot(0, List.of(retry))) {
            results.fail(REPLAY, "the retry had an effect of its own", first, retry);
        } else if (difference != null) {
            results.fail(REPLAY, difference, first, retry);
        } else {
            results.pass(REPLAY, "status " + retry.status() + ", headers and bytes are equal");
        }
        if (!retry.isMarked()) {
            results.fail(MARKED, "the retry's answer has no Idempotent-Replayed: true", first, retry);
        } else if (first.isMarked()) {
            results.fail(MARKED, "the first answer is marked as a replay too", first, retry);
        } else {
            results.pass(MARKED, "the replay is marked, the first answer is not");
        }
        expires(first, retry, results);
        String cookie = first.header("Set-Cookie");
        if (cookie == null) {
            results.skip(SET_COOKIE, "the first answer sets no cookie");
        } else if (cookie.equals(retry.header("Set-Cookie"))) {
            results.fail(SET_COOKIE, "the replay sets the same cookie", first, retry);
        } else {
            results.pass(SET_COOKIE, "the replay does not have the first answer's cookie");
        }
    }

    private static @Nullable String difference(RoundTrip first, RoundTrip retry) {
        if (first.status() != retry.status()) {
            return "the first answer was " + first.status() + ", the retry got " + retry.brief();
        }
        if (!first.text().equals(retry.text())) {
            return "the bodies differ";
        }
        for (String name : STORED) {
            if (first.answer() != null
                    && retry.answer() != null
                    && !first.answer().lines(name).equals(retry.answer().lines(name))) {
                return "the header " + name + " differs";
            }
        }
        return null;
    }

    private static void expires(RoundTrip first, RoundTrip retry, Results results) {
        String value = first.header("Idempotency-Key-Expires");
        Instant date = instant(first.header("Date"));
        Instant expiry = instant(value);
        if (value == null) {
            results.fail(EXPIRES, "there is no Idempotency-Key-Expires", first, retry);
        } else if (expiry == null) {
            results.fail(EXPIRES, "Idempotency-Key-Expires is not an HTTP date", first, retry);
        } else if (date != null && !expiry.isAfter(date)) {
            results.fail(EXPIRES, "Idempotency-Key-Expires is not after Date", first, retry);
        } else {
            results.pass(EXPIRES, value);
        }
    }

    private static @Nullable Instant instant(@Nullable String date) {
        try {
            return date == null
                    ? null
                    : ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT))
                            .toInstant();
        } catch (DateTimeException e) {
            return null;
        }
    }

    private static void date(Session session, FirstRequest first, Results results) {
        String original = first.trip().header("Date");
        if (original == null) {
            results.skip(DATE, "answers have no Date");
            return;
        }
        Session.waitUntil(first.at() + DATE_STEP.toNanos());
        RoundTrip retry = session.settled(first.trip().request());
        if (retry.answer() != null && retry.answer().lines("Date").contains(original)) {
            results.fail(DATE, "a second later the replay still has the first answer's Date", first.trip(), retry);
        } else {
            results.pass(DATE, "the replay has a new Date, or none");
        }
    }
}
