package dev.onlyonce.http;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Key;
import dev.onlyonce.MalformedKey;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.OutcomeException;
import dev.onlyonce.Registry;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.fingerprint.Fingerprinter;
import dev.onlyonce.fingerprint.MalformedRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.Time;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the webhooks of one source. It speaks to no network: a servlet, or another server's handler, calls {@link #receive}.
 * Thread-safe.
 *
 * <ol>
 *   <li>A body over the limit is refused: 413.
 *   <li>The scheme checks signature and time of the bytes as they came: 401.
 *   <li>The id is found: 400 if it is missing or cannot be remembered.
 *   <li>The handler applies the webhook, unless it was applied before. Either way the sender gets 204. A webhook with a known id
 *       and other content never gets to the effect: 422.
 *   <li>If that fails, nothing was applied; the sender gets 500 or 503 and delivers it again.
 * </ol>
 */
public final class WebhookReceiver {
    private static final Logger log = LoggerFactory.getLogger(WebhookReceiver.class);

    /** The operation of whatever {@code Inbox} of the SQL module remembers. */
    private static final String INBOX = "inbox";

    /** A store that is well again is noticed within a second. */
    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    /** Anybody can send unsigned requests: one line a minute says so. */
    private static final long LOG_EVERY_NANOS = Duration.ofMinutes(1).toNanos();

    private final String source;
    private final WebhookScheme scheme;
    private final WebhookId id;
    private final Fingerprinter fingerprinter;
    private final int bodyBytesMax;
    private final Time time;
    private final WebhookHandler handler;
    private final AtomicLong nextLogNanos;
    private final AtomicLong unlogged = new AtomicLong();

    private WebhookReceiver(Builder builder, WebhookHandler handler) {
        source = builder.source;
        scheme = builder.scheme;
        id = builder.id;
        fingerprinter = builder.fingerprinter.bodyBytesMax(builder.bodyBytesMax).build();
        bodyBytesMax = builder.bodyBytesMax;
        time = builder.registry.time();
        this.handler = requireNonNull(handler, "handler");
        nextLogNanos = new AtomicLong(time.nanos());
    }

    /**
     * Receives from a source.
     *
     * @param source who sends: ids are unique within it. Part of every stored id, so do not change it; 1-255 characters
     * @throws IllegalArgumentException if the source is no such name
     */
    public static Builder builder(Onlyonce once, String source, WebhookScheme scheme) {
        return new Builder(once.registry(), source, scheme);
    }

    /** The largest body. Of a larger one, one byte more is enough: it is refused. */
    public int bodyBytesMax() {
        return bodyBytesMax;
    }

    /**
     * Answers a request with a webhook. Blocks while the handler applies it.
     *
     * @param headers all header lines
     * @param body the bytes as they were sent: not decoded, not parsed and written again
     */
    public HttpAnswer receive(Headers headers, byte[] body) {
        if (body.length > bodyBytesMax) {
            return refuse(Problem.BODY_TOO_LARGE, "The limit is " + bodyBytesMax + " bytes");
        }
        Optional<String> forged = scheme.refusal(headers, body, time.now());
        if (forged.isPresent()) {
            return refuse(Problem.SIGNATURE_INVALID, forged.get());
        }
        Optional<String> found = id.of(headers, body);
        try {
            Key.checkValue(found.orElse(""));
        } catch (MalformedKey e) {
            return refuse(
                    Problem.MESSAGE_ID_INVALID,
                    found.isEmpty() ? "there is none where this receiver looks for it" : e.getMessage());
        }
        return apply(new Webhook(source, found.orElseThrow(), headers, body, content(body)));
    }

    /**
     * As JSON if it is JSON, else byte by byte: signed bytes are never refused for their form. What the headers say does not
     * count. They are not signed, and who changes one must not make a second delivery look like another webhook.
     */
    private Fingerprint content(byte[] body) {
        try {
            return fingerprint("application/json", body);
        } catch (MalformedRequest e) {
            return fingerprint("application/octet-stream", body);
        }
    }

    private Fingerprint fingerprint(String contentType, byte[] body) {
        return fingerprinter.fingerprint(new Fingerprinter.Request("POST", "", null, Map.of(), contentType, body));
    }

    private HttpAnswer apply(Webhook webhook) {
        try {
            boolean isNew = handler.apply(webhook);
            return isNew
                    ? HttpAnswer.of(204, Headers.none())
                    : HttpAnswer.of(204, Headers.of(StoredHeaders.REPLAYED, "true"));
        } catch (WebhookRejected e) {
            return refuse(Problem.REQUEST_MALFORMED, e.getMessage());
        } catch (MalformedKey e) {
            return refuse(Problem.MESSAGE_ID_INVALID, e.getMessage());
        } catch (OutcomeException e) {
            if (e.outcome() instanceof Outcome.Mismatched) {
                log.warn(
                        "A webhook of {} was refused: its id {} is that of one with other content, which was applied."
                                + " If the sender changes what it sends again, ignore those members of the body.",
                        source,
                        EntryId.shorten(webhook.id()));
                return answer(Problem.MESSAGE_CHANGED.report());
            }
            return failed(webhook, Problem.HANDLER_FAILED, e);
        } catch (StoreOutcomeUnknown e) {
            return failed(webhook, Problem.NOT_RECORDED, e);
        } catch (StoreException e) {
            return failed(webhook, Problem.STORE_UNAVAILABLE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return failed(webhook, Problem.HANDLER_FAILED, e);
        } catch (Exception e) {
            return failed(webhook, Problem.HANDLER_FAILED, e);
        }
    }

    private HttpAnswer failed(Webhook webhook, Problem problem, Exception failure) {
        log.warn(
                "A webhook of {} ({}) was not applied; its sender delivers it again",
                source,
                EntryId.shorten(webhook.id()),
                failure);
        return answer(problem.report().retryAfter(RETRY_AFTER));
    }

    private HttpAnswer refuse(Problem problem, @Nullable String why) {
        long now = time.nanos();
        long next = nextLogNanos.get();
        if (now - next >= 0 && nextLogNanos.compareAndSet(next, now + LOG_EVERY_NANOS)) {
            log.warn(
                    "A webhook of {} was refused with {}: {}. {} others were since the last such line.",
                    source,
                    problem.code(),
                    why,
                    unlogged.getAndSet(0));
        } else {
            unlogged.incrementAndGet();
        }
        return answer(problem.because(why));
    }

    private static HttpAnswer answer(Problem.Report report) {
        return ErrorFormat.PROBLEM_JSON.write(report, report.problem().status());
    }

    /** Builds a {@link WebhookReceiver}. Not thread-safe. */
    public static final class Builder {
        private final Registry registry;
        private final String source;
        private final WebhookScheme scheme;
        private final Fingerprinter.Builder fingerprinter = Fingerprinter.builder();
        private WebhookId id;
        private int bodyBytesMax = 1 << 20;

        private Builder(Registry registry, String source, WebhookScheme scheme) {
            Key.checkName("source", source);
            this.registry = registry;
            this.source = source;
            this.scheme = scheme;
            this.id = scheme.id();
            ignore(scheme.changingMembers().toArray(String[]::new));
        }

        /** Where the id is, if it is not where the scheme says. */
        public Builder id(WebhookId id) {
            this.id = requireNonNull(id, "id");
            return this;
        }

        /**
         * JSON pointers of members that may differ between two deliveries, besides those that the scheme knows. Otherwise a
         * delivery with the same id and other content is refused.
         */
        public Builder ignore(String... jsonPointers) {
            fingerprinter.ignore(jsonPointers);
            return this;
        }

        /** The largest body. */
        public Builder bodyBytesMax(int bytes) {
            if (bytes < 1 || bytes > Fingerprinter.BODY_BYTES_MAX_LIMIT) {
                throw new IllegalArgumentException(
                        "bodyBytesMax must be 1 to " + Fingerprinter.BODY_BYTES_MAX_LIMIT + ": " + bytes);
            }
            this.bodyBytesMax = bytes;
            return this;
        }

        /**
         * Builds it.
         *
         * @param handler applies each webhook once
         * @throws IllegalArgumentException if an ignored member is no JSON pointer, or the operation {@code inbox} has a retention in
         *     which a recorded webhook could be sent again after its id is forgotten, and before its signature is too old
         */
        public WebhookReceiver build(WebhookHandler handler) {
            Optional<Duration> tolerance = scheme.tolerance();
            Optional<Duration> retention =
                    registry.ownPolicy(INBOX).map(policy -> policy.terms().retention());
            // From the earliest moment at which a signature is accepted to the last it is twice the tolerance.
            if (tolerance.isPresent()
                    && retention.isPresent()
                    && retention.get().dividedBy(2).compareTo(tolerance.get()) < 0) {
                throw new IllegalArgumentException("the retention of the operation " + INBOX + ", " + retention.get()
                        + ", is shorter than twice the tolerance of the signatures of " + source + ", "
                        + tolerance.get() + ": a webhook that somebody recorded could be applied again");
            }
            return new WebhookReceiver(this, handler);
        }
    }
}
