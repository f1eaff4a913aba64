package dev.onlyonce.micrometer;

import dev.onlyonce.client.Attempt;
import dev.onlyonce.client.CallListener;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.client.JournalException;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * Counts what a client does, under the names of {@link CallMetric}. No business id becomes a tag. Every series is there from the
 * start. Thread-safe.
 */
public final class CallMeters implements CallListener {
    /** The status of an attempt without an answer. */
    public static final String NO_ANSWER = "none";

    private static final List<String> STATUSES = List.of(NO_ANSWER, "1xx", "2xx", "3xx", "4xx", "5xx");

    private final MeterRegistry registry;
    private final Tags client;

    /**
     * Registers every metric of one client.
     *
     * @param client its name, such as that of the server that it calls: the tag {@code client}
     */
    public CallMeters(MeterRegistry registry, String client) {
        this.registry = registry;
        this.client = Tags.of("client", client);
        for (CallMetric metric : List.of(
                CallMetric.DONE,
                CallMetric.REPLAYED,
                CallMetric.REFUSED,
                CallMetric.RETRIES,
                CallMetric.JOURNAL_FAILED)) {
            counter(metric, this.client);
        }
        for (CallResult.Reason reason : CallResult.Reason.values()) {
            counter(CallMetric.IN_DOUBT, tags(reason));
        }
        timer(CallMetric.CALL_DURATION, this.client);
        timer(CallMetric.WAIT_DURATION, this.client);
        STATUSES.forEach(status -> timer(CallMetric.ATTEMPT_DURATION, this.client.and("status", status)));
    }

    @Override
    public void attempted(String id, Attempt attempt) {
        int hundreds = attempt.status() / 100;
        // A server may answer any three digits; they must not become tags.
        String status = hundreds < STATUSES.size() ? STATUSES.get(hundreds) : NO_ANSWER;
        timer(CallMetric.ATTEMPT_DURATION, client.and("status", status)).record(attempt.took());
    }

    @Override
    public void waiting(String id, Duration pause) {
        timer(CallMetric.WAIT_DURATION, client).record(pause);
    }

    @Override
    public void finished(CallResult result, Duration took) {
        result.accept(new Ending()).increment();
        timer(CallMetric.CALL_DURATION, client).record(took);
        counter(CallMetric.RETRIES, client)
                .increment(Math.max(0, result.attempts().size() - 1));
    }

    @Override
    public void journalFailed(JournalException failure) {
        counter(CallMetric.JOURNAL_FAILED, client).increment();
    }

    private Tags tags(CallResult.Reason reason) {
        return client.and("reason", reason.name().toLowerCase(Locale.ROOT));
    }

    private Counter counter(CallMetric metric, Tags tags) {
        return Counter.builder(metric.meterName())
                .description(metric.description())
                .tags(tags)
                .register(registry);
    }

    private Timer timer(CallMetric metric, Tags tags) {
        return Timer.builder(metric.meterName())
                .description(metric.description())
                .tags(tags)
                .serviceLevelObjectives(Meters.buckets())
                .register(registry);
    }

    /** The counter of each result. */
    private final class Ending implements CallResult.Visitor<Counter> {
        @Override
        public Counter done(CallResult.Done done) {
            if (done.isReplayed()) {
                counter(CallMetric.REPLAYED, client).increment();
            }
            return counter(CallMetric.DONE, client);
        }

        @Override
        public Counter refused(CallResult.Refused refused) {
            return counter(CallMetric.REFUSED, client);
        }

        @Override
        public Counter inDoubt(CallResult.InDoubt inDoubt) {
            return counter(CallMetric.IN_DOUBT, tags(inDoubt.reason()));
        }
    }
}
