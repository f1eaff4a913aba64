package dev.onlyonce.dynamodb;

import dev.onlyonce.store.StoreUnavailable;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

/**
 * DynamoDB's clock, from the {@code Date} of its answers. This node's wall clock is never asked.
 *
 * <ol>
 *   <li>An answer says that the service's time was in the second that begins with its {@code Date}, at some moment between sending and
 *       receiving. That bounds the time at receiving: from {@code Date} to {@code Date}, a second and the round trip.
 *   <li>Until the next answer both bounds advance with this node's monotonic clock, and drift apart a little.
 *   <li>The next answer's bounds are intersected with these. After a few answers the bounds are about a round trip apart.
 *   <li>If they do not intersect, the service's clock was set, or this machine was suspended, or the answer is wrong. Until the next
 *       answer tells, the time may be either: nothing is over by a single answer.
 * </ol>
 *
 * <p>Only DynamoDB's own answers count, which have a request id: a proxy's error page has the proxy's date.
 */
final class ServiceClock implements StoreClock, ExecutionInterceptor {
    /** How wrong a monotonic clock may run: five times what quartz does. */
    private static final double DRIFT = 0.0005;
    /** How far the clocks of the service's hosts may be apart; they are synchronised to milliseconds. */
    private static final long HOSTS_APART = 100_000;

    private static final String REQUEST_ID = "x-amzn-RequestId";
    private static final long SECOND = 1_000_000;
    private static final ExecutionAttribute<Long> SENT = new ExecutionAttribute<>("dev.onlyonce.dynamodb.sent");

    private final LongSupplier nanos;
    private volatile @Nullable Bounds known;

    /** What the time was when the monotonic clock showed this. */
    private record Bounds(long nanos, long low, long high) {
        Bounds at(long now) {
            long elapsed = Math.max(0, now - nanos) / 1000;
            long drift = (long) Math.ceil(elapsed * DRIFT);
            return new Bounds(now, low + elapsed - drift, high + elapsed + drift);
        }

        Optional<Bounds> intersect(Bounds other) {
            long from = Math.max(low, other.low);
            long to = Math.min(high, other.high);
            return from > to ? Optional.empty() : Optional.of(new Bounds(nanos, from, to));
        }

        Bounds unite(Bounds other) {
            return new Bounds(nanos, Math.min(low, other.low), Math.max(high, other.high));
        }
    }

    ServiceClock() {
        this(System::nanoTime);
    }

    ServiceClock(LongSupplier nanos) {
        this.nanos = nanos;
    }

    @Override
    public Reading now() {
        Bounds last = known;
        if (last == null) {
            throw new StoreUnavailable(
                    "DynamoDB: no answer had a Date and an " + REQUEST_ID + ": is something else at this endpoint?",
                    null);
        }
        Bounds now = last.at(nanos.getAsLong());
        return new Reading(now.low - HOSTS_APART, now.high + HOSTS_APART);
    }

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        attributes.putAttribute(SENT, nanos.getAsLong());
    }

    @Override
    public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
        Long sent = attributes.getAttribute(SENT);
        Optional<String> date = context.httpResponse().firstMatchingHeader("Date");
        boolean own = context.httpResponse().firstMatchingHeader(REQUEST_ID).isPresent();
        if (sent != null && own && date.isPresent()) {
            try {
                observe(
                        sent,
                        ZonedDateTime.parse(date.get(), DateTimeFormatter.RFC_1123_DATE_TIME)
                                .toInstant());
            } catch (DateTimeException e) {
                // The next answer counts.
            }
        }
    }

    /** Takes what an answer said that has just been received. */
    synchronized void observe(long sentNanos, Instant date) {
        long now = nanos.getAsLong();
        long low = Duration.between(Instant.EPOCH, date).toSeconds() * SECOND;
        Bounds heard = new Bounds(now, low, low + SECOND + Math.max(0, now - sentNanos) / 1000);
        Bounds last = known == null ? heard : known.at(now);
        known = heard.intersect(last).orElseGet(() -> heard.unite(last));
    }
}
