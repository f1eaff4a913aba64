package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.redis.Swap.Next;
import dev.onlyonce.redis.Swap.Shape;
import dev.onlyonce.redis.Swap.Stamp;
import dev.onlyonce.redis.Swap.Todo;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Decision.Change;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Transition;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a change that {@link Life} has decided is for Redis: the entry's bytes, its place in the indexes, and the records of the audit.
 *
 * <p>Life decides by the time at which the entry was read. The script changes it later, and writes the times that the decision has counted
 * from then as counted from the change: so no lease and no retention is shorter than it must be.
 */
record Changes(AuditLevel level) {
    /** A record's time if that is the time of its message. */
    static final double WITH_MESSAGE = 0;

    private static final byte[] NONE = {};

    /** The index that an entry in this state is in. */
    static String index(State state) {
        return switch (state) {
            case PENDING, PROCESSING -> Partitions.LEASES;
            case UNKNOWN -> Partitions.UNKNOWN;
            case COMPLETED, FAILED, RETRYABLE, EXPIRED -> Partitions.EXPIRIES;
        };
    }

    /**
     * A change for the script.
     *
     * @param next the entry as it will be if the script's time is {@code now}; null if it is deleted
     */
    record Planned(Swap swap, @Nullable StoredEntry next, Instant now) {
        /** The claim that the script has written at this time; empty if the entry is none. */
        Optional<StoredEntry> claimAt(Instant at) {
            if (next == null || next.entry().state() != State.PROCESSING) {
                return Optional.empty();
            }
            Instant until = next.entry().leaseUntil().plus(Duration.between(now, at));
            return Optional.of(next.claimedAt(at, until, swap.shape().stamp() == Stamp.BOTH));
        }
    }

    /**
     * The times that the script writes.
     *
     * @param at where they are in an entry
     * @param later the second one, or the only one
     */
    private record Times(Stamp stamp, int at, @Nullable Instant later) {
        /** After {@code now}, or as a number if it is not counted from then. */
        long micros(Instant now) {
            if (later == null) {
                return 0;
            }
            return stamp == Stamp.NONE ? StoredEntry.micros(later) : ChronoUnit.MICROS.between(now, later);
        }
    }

    /**
     * Plans a change.
     *
     * @param old what is stored; null if nothing is
     * @param now when that was read, by which it was decided
     */
    Planned plan(@Nullable StoredEntry old, Change<?> change, Instant now) {
        byte[] expected = old == null ? NONE : old.revision();
        String from = old == null ? Shape.NO_INDEX : index(old.entry().state());
        Entry next = change.next();
        boolean isOwn = next != null && old != null && isOwnRecord(old.entry(), next, now);
        byte[][] records = isOwn ? new byte[0][] : records(old, change);
        if (next == null) {
            return new Planned(Swap.deleted(expected, from, records.length, joined(records)), null, now);
        }
        if (isNote(change)) {
            // The entry as it is stored has its times, and perhaps a result that was not read.
            return new Planned(Swap.recorded(expected, records.length, joined(records)), null, now);
        }
        StoredEntry written = written(old, change, next, isOwn);
        Times times = times(change, next);
        Shape shape = new Shape(
                Todo.MSET,
                times.stamp,
                times.micros(now),
                from,
                index(next.state()),
                records.length,
                old == null ? 1 : 0);
        long until = isOwn ? StoredEntry.micros(next.leaseUntil()) : Swap.ALWAYS;
        return new Planned(
                new Swap(shape, expected, Next.of(written, times.stamp, times.at), joined(records), until),
                written,
                now);
    }

    private static Times times(Change<?> change, Entry next) {
        if (isCreation(change)) {
            return new Times(Stamp.BOTH, StoredEntry.CREATED_AT, next.leaseUntil());
        }
        if (next.state() == State.EXPIRED) {
            // Nothing happens to its times. The index has when nothing is left of it.
            return new Times(Stamp.NONE, 0, Life.goneAt(next).orElseThrow());
        }
        if (next.settledAt() == null) {
            return new Times(Stamp.LATER, StoredEntry.LEASE_AT, next.leaseUntil());
        }
        return new Times(next.expiresAt() == null ? Stamp.NEVER : Stamp.BOTH, StoredEntry.SETTLED_AT, next.expiresAt());
    }

    private static boolean isNote(Change<?> change) {
        return change.audit().stream().anyMatch(transition -> transition.to() == transition.from());
    }

    private static boolean isCreation(Change<?> change) {
        List<Transition> audit = change.audit();
        return !audit.isEmpty() && audit.get(audit.size() - 1).from() == null;
    }

    /** Whether a settlement is ordinary, and is recorded on its entry alone. */
    private boolean isOwnRecord(Entry old, Entry next, Instant now) {
        return level == AuditLevel.EXCEPTIONS
                && old.state() == State.PROCESSING
                && next.state().isAnswered()
                && next.token() != null
                && !now.isAfter(old.leaseUntil());
    }

    private static StoredEntry written(@Nullable StoredEntry old, Change<?> change, Entry next, boolean isOwn) {
        List<Transition> audit = change.audit();
        if (isCreation(change)) {
            return StoredEntry.of(next, null, true);
        }
        boolean wasFirst = old != null && old.isFirst();
        if (audit.isEmpty()) {
            return StoredEntry.of(next, null, wasFirst && next.state() != State.EXPIRED);
        }
        return isOwn ? StoredEntry.of(next, audit.get(0).why(), wasFirst) : StoredEntry.of(next, null, false);
    }

    /** For the stream: a new entry is the record of its first change, until the second one. */
    private byte[][] records(@Nullable StoredEntry old, Change<?> change) {
        if (old == null) {
            return new byte[0][];
        }
        byte[][] records = new byte[change.audit().size() + 1][];
        int count = 0;
        boolean isEvicted = change.next() == null && !change.audit().isEmpty();
        String reason = old.ownReason();
        if (reason != null && (level == AuditLevel.ALL || isEvicted)) {
            Instant settled = old.entry().settledAt();
            double at = settled == null ? WITH_MESSAGE : StoredEntry.number(settled);
            records[count++] = record(old, old.ownSettlement(reason), at);
        }
        for (Transition transition : change.audit()) {
            if (transition.from() != null) {
                records[count++] = record(old, transition, WITH_MESSAGE);
            }
        }
        return Arrays.copyOf(records, count);
    }

    /** {@link AuditStreams} reads it. The first change goes with the second one: by the same maker, or with its own. */
    private static byte[] record(StoredEntry old, Transition transition, double at) {
        State from = transition.from();
        State to = transition.to();
        boolean hasFirst = old.isFirst() && (from == State.PENDING || from == State.PROCESSING);
        boolean isSameMaker = transition.who().equals(old.entry().owner());
        byte[][] texts = {
            Partitions.member(transition.id()),
            bytes(transition.operation()),
            bytes(transition.who()),
            bytes(transition.why()),
            hasFirst && !isSameMaker ? bytes(old.entry().owner()) : NONE
        };
        int count = hasFirst && !isSameMaker ? texts.length : texts.length - 1;
        int length = 3 + Integer.BYTES + 2 * Double.BYTES;
        for (int i = 0; i < count; i++) {
            length += Short.BYTES + texts[i].length;
        }
        ByteBuffer out = ByteBuffer.allocate(length)
                .put((byte) (from == null ? 0 : from.code()))
                .put((byte) (to == null ? 0 : to.code()))
                .put((byte)
                        (!hasFirst
                                ? AuditStreams.WITHOUT_FIRST
                                : isSameMaker ? AuditStreams.SAME_MAKER : AuditStreams.OTHER_MAKER))
                .putInt(transition.attempt())
                .putDouble(StoredEntry.number(old.entry().createdAt()))
                .putDouble(at);
        for (int i = 0; i < count; i++) {
            out.putShort((short) texts[i].length).put(texts[i]);
        }
        return out.array();
    }

    private static byte[] joined(byte[][] parts) {
        return switch (parts.length) {
            case 0 -> NONE;
            case 1 -> parts[0];
            default -> Partitions.joined(parts[0], parts[1]);
        };
    }
}
