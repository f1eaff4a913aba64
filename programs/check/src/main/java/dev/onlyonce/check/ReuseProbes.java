package dev.onlyonce.check;

import static dev.onlyonce.check.Check.OTHER_BODY;
import static dev.onlyonce.check.Check.OTHER_METHOD;
import static dev.onlyonce.check.Check.OTHER_PATH;
import static dev.onlyonce.check.Check.OTHER_QUERY;
import static dev.onlyonce.check.Check.OTHER_TENANT;
import static dev.onlyonce.check.Check.RESERIALISED;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.onlyonce.check.wire.RawRequest;
import java.net.URI;
import java.util.List;
import java.util.OptionalLong;

/** The same key for another request, or for the same request in another form. */
final class ReuseProbes {
    private static final int VARIATIONS = 8;

    private ReuseProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.of(6 + VARIATIONS, ReuseProbes::body, OTHER_BODY),
                Probe.of(2, ReuseProbes::query, OTHER_QUERY),
                Probe.of(2, ReuseProbes::path, OTHER_PATH),
                Probe.of(2, ReuseProbes::method, OTHER_METHOD),
                Probe.of(2, ReuseProbes::reserialised, RESERIALISED),
                Probe.of(2, ReuseProbes::tenant, OTHER_TENANT));
    }

    private static void body(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        ObjectNode json = session.plan().json();
        if (json != null) {
            RoundTrip first = session.settled(request);
            for (String other : Json.variations(json, VARIATIONS)) {
                if (isAccepted(session, results, first, request.body(other))) {
                    return;
                }
            }
            RawRequest deep = session.request(Session.newKey()).body(Json.nested(json, 1));
            RoundTrip deepFirst = session.settled(deep);
            // Some APIs refuse members that they do not know.
            if (deepFirst.isSuccess() && isAccepted(session, results, deepFirst, deep.body(Json.nested(json, 2)))) {
                return;
            }
        }
        RawRequest fresh = session.request(Session.newKey());
        refused(session, results, OTHER_BODY, fresh, fresh.body(session.plan().otherBody()));
    }

    private static boolean isAccepted(Session session, Results results, RoundTrip first, RawRequest other) {
        RoundTrip second = session.settled(other);
        if (second.isSuccess()) {
            results.fail(OTHER_BODY, "it got " + second.brief(), first, second);
        }
        return second.isSuccess();
    }

    private static void query(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        String url = session.plan().url().toString();
        URI other = URI.create(url + (url.contains("?") ? "&" : "?") + "onlyonce-check=1");
        refused(session, results, OTHER_QUERY, request, request.url(other));
    }

    private static void path(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        URI second = session.plan().secondUrl();
        if (second == null) {
            results.skip(OTHER_PATH, "give --second-url, another endpoint that takes keys and this body");
        } else {
            refused(session, results, OTHER_PATH, request, request.url(second));
        }
    }

    private static void method(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        refused(session, results, OTHER_METHOD, request, request.method("PATCH"));
    }

    /** The other request must be refused after the first has completed, and the first one still answers. */
    private static void refused(Session session, Results results, Check check, RawRequest request, RawRequest other)
            throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip first = session.settled(request);
        RoundTrip second = session.send(other);
        RoundTrip retry = session.settled(request);
        if (second.isElsewhere() && check != OTHER_BODY && check != OTHER_QUERY) {
            results.skip(check, other.method() + " " + other.url().getPath() + " answers " + second.status());
        } else if (!second.isRefused()) {
            results.fail(check, "it got " + second.brief(), first, second);
        } else if (tally.isNot(1, List.of(first, second, retry))) {
            results.fail(
                    check, tally.said(1, List.of(first, second, retry)) + " although it was refused", first, second);
        } else if (!retry.sameEffect(first)) {
            results.fail(check, "the refused request changed what a retry gets: " + retry.brief(), first, retry);
        } else {
            results.pass(check, "refused with " + second.status());
        }
    }

    private static void reserialised(Session session, Results results) throws CannotCheck {
        ObjectNode json = session.plan().json();
        if (json == null) {
            results.skip(RESERIALISED, "the body is not a JSON object");
            return;
        }
        RawRequest request = session.request(Session.newKey());
        same(session, results, RESERIALISED, request, request.body(Json.reserialised(json)));
    }

    /** The other form must get the answer of the first. */
    static void same(Session session, Results results, Check check, RawRequest request, RawRequest form)
            throws CannotCheck {
        Tally tally = session.tally();
        RoundTrip first = session.settled(request);
        RoundTrip second = session.settled(form);
        results.judge(check, tally.difference(first, second), "both forms got the same answer", first, second);
    }

    private static void tenant(Session session, Results results) throws CannotCheck {
        if (!session.plan().hasSecondTenant()) {
            results.skip(OTHER_TENANT, "give --second-tenant-header, credentials of another caller");
            return;
        }
        Tally tally = session.tally();
        RawRequest request = session.request(Session.newKey());
        RawRequest other = new RawRequest(
                request.method(), request.url(), session.plan().secondTenantHeaders(), request.body(), false);
        for (String key : request.headers().stream()
                .filter(line -> line.is(Session.KEY))
                .map(line -> line.value())
                .toList()) {
            other = other.with(Session.KEY, key);
        }
        RoundTrip first = session.settled(request);
        RoundTrip second = session.settled(other);
        OptionalLong effects = tally.effects(second.isSuccess() ? 2 : 1, List.of(first, second));
        if (second.isElsewhere()) {
            results.skip(OTHER_TENANT, "the second caller gets " + second.status());
        } else if (second.isSuccess() && (second.isMarked() || (effects.isPresent() && effects.getAsLong() < 2))) {
            results.fail(OTHER_TENANT, "the second caller got the first one's answer", first, second);
        } else if (second.isSuccess() && effects.isEmpty()) {
            results.skip(OTHER_TENANT, "all answers look alike; give --count");
        } else if (second.isSuccess() || second.isRefused()) {
            results.pass(OTHER_TENANT, second.isSuccess() ? "each has its own" : "refused with " + second.status());
        } else {
            results.fail(OTHER_TENANT, "the second caller got " + second.brief(), first, second);
        }
    }
}
