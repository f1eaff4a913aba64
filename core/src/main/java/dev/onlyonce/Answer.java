package dev.onlyonce;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryUnreadable;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.State;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Decides the answer to a request whose key is in use: first whether it is the same request, then by state. */
final class Answer {
    /** Nobody knows how long reconciling takes. */
    static final Duration RETRY_AFTER_UNKNOWN = Duration.ofSeconds(10);

    private Answer() {}

    /** See {@link Registry#answer}. */
    static Outcome<byte[]> of(Key key, Fingerprint fingerprint, Entry entry, Duration retryAfter) {
        Outcome<byte[]> mismatch = mismatch(key, fingerprint, entry.operation(), entry.fingerprint());
        if (mismatch != null) {
            return mismatch;
        }
        return switch (entry.state()) {
            case COMPLETED, FAILED -> outcome(Replay.of(entry));
            case PENDING, PROCESSING, RETRYABLE -> new Outcome.InFlight<>(entry.state() == State.PENDING, retryAfter);
            case UNKNOWN -> new Outcome.Unknown<>(RETRY_AFTER_UNKNOWN);
            case EXPIRED -> new Outcome.Expired<>();
        };
    }

    /** The same for an answer from memory. */
    static Outcome<byte[]> of(Key key, Fingerprint fingerprint, Replay replay) {
        Outcome<byte[]> mismatch = mismatch(key, fingerprint, replay.operation(), replay.fingerprint());
        return mismatch == null ? outcome(replay) : mismatch;
    }

    private static @Nullable Outcome<byte[]> mismatch(
            Key key, Fingerprint fingerprint, String operation, Fingerprint first) {
        if (!operation.equals(key.operation())) {
            return new Outcome.Mismatched<>(Outcome.Mismatched.Reason.OPERATION);
        }
        int version = first.version();
        Fingerprint same = fingerprint
                .in(version)
                .orElseThrow(() -> new EntryUnreadable(
                        "The entry has a fingerprint of version " + version
                                + ", which this node cannot compute: a newer release made it, or its secret is not configured",
                        null));
        return same.matches(first) ? null : new Outcome.Mismatched<>(Outcome.Mismatched.Reason.REQUEST);
    }

    private static Outcome<byte[]> outcome(Replay replay) {
        Envelope.Content content = Envelope.open(replay.result());
        return content instanceof Envelope.Content.Value value
                ? new Outcome.Replayed<>(value.bytes(), replay.expiresAt())
                : new Outcome.Failed<>(((Envelope.Content.Failed) content).failure(), replay.expiresAt());
    }
}
