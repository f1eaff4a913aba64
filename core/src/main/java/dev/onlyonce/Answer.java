package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import java.time.Duration;

/** What a request is told about an entry that stands there: a mismatch before anything else, then by state. */
public final class Answer {
    /** How long reconciling takes is anybody's guess. */
    static final Duration RETRY_AFTER_UNKNOWN = Duration.ofSeconds(10);

    private Answer() {}

    /**
     * Never {@link Outcome.Executed}. A retryable entry is answered as in flight: claim it instead.
     *
     * @param retryAfter when to ask again about an entry in flight
     */
    public static Outcome<byte[]> of(Key key, Fingerprint fingerprint, Entry entry, Duration retryAfter) {
        if (!entry.operation().equals(key.operation())) {
            return new Outcome.Mismatched<>(Outcome.Mismatched.Reason.OPERATION);
        }
        int version = entry.fingerprint().version();
        Fingerprint same = fingerprint
                .in(version)
                .orElseThrow(() -> new StoreUnavailable(
                        "The entry has a fingerprint of version " + version
                                + ", which this node cannot compute: a newer release made it, or its secret is not configured",
                        null));
        if (!same.matches(entry.fingerprint())) {
            return new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST);
        }
        return switch (entry.state()) {
            case COMPLETED, FAILED -> replay(entry);
            case PENDING, PROCESSING, RETRYABLE -> new Outcome.InFlight<>(entry.state() == State.PENDING, retryAfter);
            case UNKNOWN -> new Outcome.Unknown<>(RETRY_AFTER_UNKNOWN);
            case EXPIRED -> new Outcome.Expired<>();
        };
    }

    private static Outcome<byte[]> replay(Entry entry) {
        var expiresAt = requireNonNull(entry.expiresAt());
        Envelope.Content content = Envelope.open(entry.result());
        return content instanceof Envelope.Content.Value value
                ? new Outcome.Replayed<>(value.bytes(), expiresAt)
                : new Outcome.Failed<>(((Envelope.Content.Failed) content).failure(), expiresAt);
    }
}
