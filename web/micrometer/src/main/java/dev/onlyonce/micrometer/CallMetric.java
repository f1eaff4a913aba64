package dev.onlyonce.micrometer;

import java.util.List;

/** Every metric of a client. {@code docs/reference/metrics.md} is compared with it by a test. */
public enum CallMetric {
    /** It took effect. */
    DONE("done", Metric.Kind.COUNTER, "", "Calls that took effect"),
    /** An earlier attempt had done it. */
    REPLAYED("replayed", Metric.Kind.COUNTER, "", "Of these: calls that were answered from the server's record"),
    /** A definitive refusal. */
    REFUSED("refused", Metric.Kind.COUNTER, "", "Calls that were refused"),
    /** No definitive answer. */
    IN_DOUBT("in_doubt", Metric.Kind.COUNTER, "reason", "Calls that stopped without a definitive answer"),
    /** Attempts after the first. */
    RETRIES(
            "retries",
            Metric.Kind.COUNTER,
            "",
            "Attempts after the first of a call, questions for the status included"),
    /** The journal failed. */
    JOURNAL_FAILED("journal_failed", Metric.Kind.COUNTER, "", "Reads and writes of the journal that failed"),
    /** A call. */
    CALL_DURATION("call.duration", Metric.Kind.TIMER, "", "From the beginning of a call to its end, pauses included"),
    /** An attempt. */
    ATTEMPT_DURATION(
            "attempt.duration",
            Metric.Kind.TIMER,
            "status",
            "From sending an attempt until it was answered or given up"),
    /** A pause. */
    WAIT_DURATION("wait.duration", Metric.Kind.TIMER, "", "Pauses before a further attempt");

    private final String name;
    private final Metric.Kind kind;
    private final String tag;
    private final String description;

    CallMetric(String name, Metric.Kind kind, String tag, String description) {
        this.name = Metric.PREFIX + "client." + name;
        this.kind = kind;
        this.tag = tag;
        this.description = description;
    }

    /** Its name in Micrometer. */
    public String meterName() {
        return name;
    }

    /** Its name in Prometheus; a timer has it with {@code _bucket}, {@code _count} and {@code _sum} behind. */
    public String prometheusName() {
        return kind.prometheusName(name);
    }

    /** What it measures with. */
    public Metric.Kind kind() {
        return kind;
    }

    /** The names of its tags. */
    public List<String> tags() {
        return tag.isEmpty() ? List.of("client") : List.of("client", tag);
    }

    /** What it means. */
    public String description() {
        return description;
    }
}
