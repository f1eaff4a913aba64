package dev.onlyonce.testkit;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.time.Instant;
import java.util.Arrays;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** All of an entry but when it was read: equal if and only if nothing has changed. */
record Snapshot(
        EntryId id,
        String operation,
        Fingerprint fingerprint,
        State state,
        @Nullable UUID token,
        String owner,
        int attempt,
        Terms terms,
        Instant createdAt,
        Instant leaseUntil,
        @Nullable Instant settledAt,
        @Nullable Instant expiresAt,
        @Nullable String result) {

    static Snapshot of(Entry entry) {
        return new Snapshot(
                entry.id(),
                entry.operation(),
                entry.fingerprint(),
                entry.state(),
                entry.token(),
                entry.owner(),
                entry.attempt(),
                entry.terms(),
                entry.createdAt(),
                entry.leaseUntil(),
                entry.settledAt(),
                entry.expiresAt(),
                shown(entry.result()));
    }

    /** Short enough for a message, and different for different bytes. */
    private static @Nullable String shown(byte @Nullable [] result) {
        return result == null ? null : result.length + " bytes, hash " + Arrays.hashCode(result);
    }

    Snapshot leasedUntil(Instant until) {
        return new Snapshot(
                id,
                operation,
                fingerprint,
                state,
                token,
                owner,
                attempt,
                terms,
                createdAt,
                until,
                settledAt,
                expiresAt,
                result);
    }

    /** With other instants. */
    Snapshot moved(UnaryOperator<@Nullable Instant> move) {
        return new Snapshot(
                id,
                operation,
                fingerprint,
                state,
                token,
                owner,
                attempt,
                terms,
                requireNonNull(move.apply(createdAt)),
                requireNonNull(move.apply(leaseUntil)),
                move.apply(settledAt),
                move.apply(expiresAt),
                result);
    }
}
