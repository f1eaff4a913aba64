package dev.onlyonce.check;

import static dev.onlyonce.check.Check.CLIENT_ERROR;
import static dev.onlyonce.check.Check.FAILURE_EFFECTS;
import static dev.onlyonce.check.Check.NO_KEY_METHODS;
import static dev.onlyonce.check.Check.SERVER_ERROR;
import static dev.onlyonce.check.Check.TOO_LARGE;
import static dev.onlyonce.check.Check.UNSUPPORTED_TYPE;

import dev.onlyonce.check.wire.RawRequest;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requests that do not work, and what becomes of their keys. */
final class ErrorProbes {
    private static final String BROKEN_JSON = "{\"onlyonce-check\":";

    private ErrorProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.of(5, ErrorProbes::failures, CLIENT_ERROR, SERVER_ERROR, FAILURE_EFFECTS),
                Probe.of(4, ErrorProbes::noKeyMethods, NO_KEY_METHODS),
                Probe.of(2, ErrorProbes::tooLarge, TOO_LARGE),
                Probe.of(2, ErrorProbes::unsupportedType, UNSUPPORTED_TYPE));
    }

    private static void failures(Session session, Results results) throws CannotCheck {
        clientError(session, results);
        serverError(session, results);
        if (session.plan().counter() == null) {
            results.skip(FAILURE_EFFECTS, "give --count");
        } else if (results.isSkipped(CLIENT_ERROR) && results.isSkipped(SERVER_ERROR)) {
            results.skip(FAILURE_EFFECTS, "give --refused-body or --failing-body, or the like");
        } else {
            results.pass(FAILURE_EFFECTS, "no failed request had an effect twice");
        }
    }

    /** A request that failed may have had an effect; its retry must not have another one. */
    private static void countOnce(Session session, Results results, Tally tally, RoundTrip first, RoundTrip retry)
            throws CannotCheck {
        if (session.plan().counter() == null) {
            return;
        }
        long effects = tally.effects(0, List.of()).orElse(0);
        if (effects > 1) {
            String what = effects + " effects behind " + first.brief() + " and " + retry.brief();
            results.fail(FAILURE_EFFECTS, what, first, retry);
        }
    }

    private static void clientError(Session session, Results results) throws CannotCheck {
        Plan.Variation variation = session.plan().refused();
        RawRequest good = session.request(Session.newKey());
        RawRequest bad = variation.isEmpty() ? good.body(BROKEN_JSON) : session.varied(good, variation);
        Tally tally = session.tally();
        RoundTrip first = session.send(bad);
        if (!first.isClientError() || first.isElsewhere()) {
            results.skip(CLIENT_ERROR, "it got " + first.brief() + "; give --refused-body that the API refuses");
            return;
        }
        RoundTrip retry = session.send(bad);
        countOnce(session, results, tally, first, retry);
        RoundTrip corrected = session.send(good);
        String after =
                corrected.isSuccess() ? "a corrected request may use the key" : "a corrected one needs a new key";
        if ((retry.isRunning() && retry.status() != first.status()) || retry.status() == 0 || retry.status() >= 500) {
            results.fail(CLIENT_ERROR, first.status() + ", then its retry got " + retry.brief(), first, retry);
        } else if (corrected.sameAnswer(first)) {
            results.fail(CLIENT_ERROR, "another request got the recorded " + first.status(), first, corrected);
        } else if (!corrected.isSuccess() && !corrected.isRefused()) {
            results.fail(CLIENT_ERROR, "a corrected request got " + corrected.brief(), first, corrected);
        } else if (retry.isMarked()) {
            results.pass(CLIENT_ERROR, first.status() + " is recorded; " + after);
        } else {
            String again = retry.sameAnswer(first) ? " is answered again" : ", then " + retry.brief();
            results.pass(CLIENT_ERROR, first.status() + again + "; " + after);
        }
    }

    private static void serverError(Session session, Results results) throws CannotCheck {
        Plan.Variation variation = session.plan().failing();
        if (variation.isEmpty()) {
            results.skip(SERVER_ERROR, "give --failing-body or --failing-url with which the API fails");
            return;
        }
        RawRequest request = session.varied(session.request(Session.newKey()), variation);
        Tally tally = session.tally();
        RoundTrip first = session.send(request);
        if (first.status() < 500) {
            results.skip(SERVER_ERROR, "it got " + first.brief() + " instead of a 5xx");
            return;
        }
        RoundTrip retry = session.send(request);
        countOnce(session, results, tally, first, retry);
        String what = first.status() + ", then ";
        if (retry.isRunning() && retry.header("Retry-After") != null && !retry.isInDoubt()) {
            retry = session.settled(request);
        }
        if (retry.isRunning() && retry.header("Retry-After") == null) {
            results.fail(SERVER_ERROR, what + retry.brief() + " without Retry-After: the key is stuck", first, retry);
        } else if (retry.isInDoubt()) {
            results.pass(SERVER_ERROR, what + retry.brief() + " with Retry-After: in doubt, as it says");
        } else if (retry.isRunning()) {
            results.fail(SERVER_ERROR, what + retry.brief() + " as long as it was asked", first, retry);
        } else if (retry.isMarked() && !retry.sameAnswer(first)) {
            results.fail(SERVER_ERROR, what + "a replay of something else", first, retry);
        } else if (retry.isMarked() || retry.isSuccess() || retry.status() >= 500) {
            results.pass(SERVER_ERROR, what + retry.brief() + (retry.isMarked() ? "" : ": it runs again"));
        } else {
            results.fail(SERVER_ERROR, what + retry.brief(), first, retry);
        }
    }

    private static void noKeyMethods(Session session, Results results) {
        List<String> seen = new ArrayList<>();
        withoutKey(session, results, seen, "PUT", session.plan().putUrl());
        withoutKey(session, results, seen, "DELETE", session.plan().deleteUrl());
        if (seen.isEmpty()) {
            results.skip(NO_KEY_METHODS, "give --put-url or --delete-url, resources that may be replaced or deleted");
        } else {
            results.pass(NO_KEY_METHODS, String.join(", ", seen));
        }
    }

    private static void withoutKey(
            Session session, Results results, List<String> seen, String method, @Nullable URI url) {
        if (url == null) {
            return;
        }
        RawRequest bare = session.bare().method(method).url(url);
        RoundTrip without = session.send(bare);
        if (without.status() / 100 == 2) {
            seen.add(method + " got " + without.status());
            return;
        }
        RoundTrip with = session.send(session.keyed(bare, Session.newKey()));
        if (with.status() / 100 == 2) {
            results.fail(NO_KEY_METHODS, method + " wants a key: " + without.brief(), without, with);
        } else {
            String why = method + " " + url.getPath() + " got " + with.brief() + " with a key, and " + without.brief()
                    + " without";
            results.skip(NO_KEY_METHODS, why + "; give the URL of a resource for which it works");
        }
    }

    private static void tooLarge(Session session, Results results) throws CannotCheck {
        byte[] padded = Arrays.copyOf(
                session.plan().body().getBytes(StandardCharsets.UTF_8),
                session.plan().largeBytes());
        Arrays.fill(padded, session.plan().body().getBytes(StandardCharsets.UTF_8).length, padded.length, (byte) ' ');
        RawRequest good = session.request(Session.newKey());
        notBurned(session, results, TOO_LARGE, 413, good, good.body(padded));
    }

    private static void unsupportedType(Session session, Results results) throws CannotCheck {
        RawRequest good = session.request(Session.newKey());
        RawRequest bad = good.with("Content-Type", "application/x-onlyonce-check");
        notBurned(session, results, UNSUPPORTED_TYPE, 415, good, bad);
    }

    private static void notBurned(
            Session session, Results results, Check check, int status, RawRequest good, RawRequest bad)
            throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip refused = session.send(bad);
        if (refused.status() != status) {
            results.skip(check, "it got " + refused.brief() + " instead of " + status);
            return;
        }
        RoundTrip corrected = session.settled(good);
        if (!corrected.isSuccess()) {
            results.fail(check, "a corrected request got " + corrected.brief(), refused, corrected);
        } else if (tally.isNot(1, List.of(corrected))) {
            results.fail(check, tally.said(1, List.of(corrected)), refused, corrected);
        } else {
            results.pass(check, "a corrected request with the same key worked");
        }
    }
}
