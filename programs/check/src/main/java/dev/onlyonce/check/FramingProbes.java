package dev.onlyonce.check;

import static dev.onlyonce.check.Check.CHUNKED;
import static dev.onlyonce.check.Check.HOP_BY_HOP;
import static dev.onlyonce.check.Check.HTTP_2;

import dev.onlyonce.check.wire.Http2;
import dev.onlyonce.check.wire.RawAnswer;
import dev.onlyonce.check.wire.RawRequest;
import java.io.IOException;
import java.util.List;

/** The same request in other frames. */
final class FramingProbes {
    private FramingProbes() {}

    static List<Probe> all() {
        return List.of(
                Probe.of(2, FramingProbes::chunked, CHUNKED),
                Probe.of(2, FramingProbes::hopByHop, HOP_BY_HOP),
                Probe.of(3, FramingProbes::http2, HTTP_2));
    }

    private static void chunked(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey());
        ReuseProbes.same(session, results, CHUNKED, request.inChunks(), request);
    }

    private static void hopByHop(Session session, Results results) throws CannotCheck {
        RawRequest request = session.request(Session.newKey()).plus("Connection", "close, Idempotency-Key");
        Tally tally = session.tally();
        RoundTrip first = session.settled(request);
        RoundTrip second = session.settled(request);
        if (first.isClientError() && second.isClientError()) {
            results.pass(HOP_BY_HOP, "refused with " + first.status());
        } else {
            results.judge(HOP_BY_HOP, tally.difference(first, second), "the key counted", first, second);
        }
    }

    private static void http2(Session session, Results results) throws CannotCheck {
        Http2 http2 = new Http2(session.plan().patience());
        RawRequest request = session.request(Session.newKey());
        try {
            // Harmless, and an upgrade without TLS is only sure with a request that has no body.
            if (session.send(
                            http2,
                            RawRequest.get(session.plan().url(), session.plan().headers()))
                    == null) {
                results.skip(HTTP_2, "the server speaks HTTP/1.1 only");
                return;
            }
            // Only now: some APIs count a GET too.
            Tally tally = session.tally();
            RawAnswer answer = session.send(http2, request);
            if (answer == null) {
                results.skip(HTTP_2, "the server went back to HTTP/1.1");
                return;
            }
            RoundTrip first = new RoundTrip(request, answer, "");
            RoundTrip second = session.settled(request);
            String passed = "a retry over HTTP/1.1 got the answer of the request over HTTP/2";
            results.judge(HTTP_2, tally.difference(first, second), passed, first, second);
        } catch (IOException e) {
            results.skip(HTTP_2, "HTTP/2 does not work here: " + Session.reason(e));
        }
    }
}
