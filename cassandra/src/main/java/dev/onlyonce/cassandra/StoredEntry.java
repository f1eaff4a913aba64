package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.cql.Row;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.Terms;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** An entry as its row has it. Instants are microseconds since 1970. */
record StoredEntry(EntryId id, Life life, Hold hold, Standing standing) {

    /**
     * What stays the same from the first claim until the entry is gone.
     *
     * @param mark tells this entry from all others that its key has had
     * @param shard of the index rows
     */
    record Life(UUID mark, int shard, long created, String operation, Fingerprint fingerprint) {}

    /** The last claim. */
    record Hold(@Nullable UUID token, String owner, int attempt, Terms terms, long leaseUntil) {}

    /**
     * Where it stands.
     *
     * @param change of the latest change
     */
    record Standing(
            State state,
            UUID change,
            @Nullable Long settled,
            @Nullable Long expires,
            @Nullable ByteBuffer result) {}

    /** A new entry. */
    static StoredEntry claimed(ClaimRequest request, Moment moment, UUID change) {
        Life life = new Life(change, moment.shard(), moment.now(), request.operation(), request.fingerprint());
        return held(request, life, 0, moment.now(), change);
    }

    /** The next attempt on it. */
    StoredEntry taken(ClaimRequest request, long at, UUID change) {
        return held(request, life, hold.attempt(), at, change);
    }

    private static StoredEntry held(ClaimRequest request, Life life, int attempts, long at, UUID change) {
        int attempt = attempts + (request.start() == State.PROCESSING ? 1 : 0);
        long leaseUntil = at + Micros.of(request.terms().lease());
        Hold hold = new Hold(request.token(), request.owner(), attempt, request.terms(), leaseUntil);
        return new StoredEntry(request.id(), life, hold, new Standing(request.start(), change, null, null, null));
    }

    /** With a lease that counts from now. */
    StoredEntry renewed(Duration lease, long now, UUID change) {
        Hold longer = new Hold(hold.token(), hold.owner(), hold.attempt(), hold.terms(), now + Micros.of(lease));
        Standing same =
                new Standing(standing.state(), change, standing.settled(), standing.expires(), standing.result());
        return new StoredEntry(id, life, longer, same);
    }

    /** Settled by its owner. */
    StoredEntry settled(State to, byte @Nullable [] result, long at, UUID change) {
        if (!standing.state().canBecome(to)) {
            throw new IllegalStateException(standing.state() + " cannot become " + to);
        }
        Long expires = to.isPurgeable() ? at + Micros.of(hold.terms().retention()) : null;
        ByteBuffer stored = result == null ? null : ByteBuffer.wrap(result);
        return new StoredEntry(id, life, hold, new Standing(to, change, at, expires, stored));
    }

    /** Without its token: the owner is fenced out. */
    StoredEntry fenced() {
        Hold fenced = new Hold(null, hold.owner(), hold.attempt(), hold.terms(), hold.leaseUntil());
        return new StoredEntry(id, life, fenced, standing);
    }

    /** What remains when its retention is over. */
    StoredEntry buried(UUID change) {
        return new StoredEntry(
                id, life, hold, new Standing(State.EXPIRED, change, standing.settled(), standing.expires(), null));
    }

    State state() {
        return standing.state();
    }

    boolean isOpen() {
        return state() == State.PENDING || state() == State.PROCESSING;
    }

    /** A change of it is not dated before the one that led here, although nodes' clocks differ by a little. */
    long notBefore(long now) {
        long last = standing.settled() == null ? life.created() : standing.settled();
        return Math.max(now, last);
    }

    /** The state as readers see it. */
    State shown(long now) {
        Long expires = standing.expires();
        return state().isAnswered() && expires != null && expires <= now ? State.EXPIRED : state();
    }

    /** When nothing is left of it; null if it does not expire. */
    @Nullable
    Long end() {
        Long expires = standing.expires();
        if (expires == null || state() == State.RETRYABLE) {
            return expires;
        }
        return expires + Micros.of(hold.terms().tombstone());
    }

    boolean isGone(long now) {
        Long end = end();
        return end != null && end <= now;
    }

    SettleResult.Settled outcome() {
        return new SettleResult.Settled(
                Micros.instant(Objects.requireNonNull(standing.settled())), Micros.optional(standing.expires()));
    }

    Entry read(long now) {
        State shown = shown(now);
        ByteBuffer result = shown == State.EXPIRED ? null : standing.result();
        return new Entry(
                id,
                life.operation(),
                life.fingerprint(),
                shown,
                hold.token(),
                hold.owner(),
                hold.attempt(),
                hold.terms(),
                Micros.instant(life.created()),
                Micros.instant(hold.leaseUntil()),
                Micros.optional(standing.settled()),
                Micros.optional(standing.expires()),
                bytes(result),
                Micros.instant(now));
    }

    private static byte @Nullable [] bytes(@Nullable ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    /**
     * Reads a row; null if there is no entry in it.
     *
     * @throws StoreRejected if it cannot be read: somebody else wrote it, or a newer release
     */
    static @Nullable StoredEntry of(EntryId id, @Nullable Row row) {
        if (row == null || row.isNull("state")) {
            return null;
        }
        try {
            return read(id, row);
        } catch (RuntimeException e) {
            throw new StoreRejected("The entry " + id + " cannot be read: " + Failures.message(e), e);
        }
    }

    private static StoredEntry read(EntryId id, Row row) {
        byte[] digest = bytes(row.getByteBuffer("fingerprint"));
        Life life = new Life(
                Objects.requireNonNull(row.getUuid("life")),
                row.getShort("shard"),
                row.getLong("created"),
                text(row, "operation"),
                Fingerprint.stored(
                        row.getInt("fingerprint_version"), Objects.requireNonNull(digest), row.getString("target")));
        Terms terms = new Terms(
                Duration.ofMillis(row.getLong("lease_ms")),
                OnLeaseLost.of(row.getByte("on_lease_lost")),
                Duration.ofMillis(row.getLong("retention_ms")),
                Duration.ofMillis(row.getLong("tombstone_ms")));
        Hold hold = new Hold(
                row.getUuid("claim_token"),
                text(row, "owner"),
                row.getInt("attempt"),
                terms,
                row.getLong("lease_until"));
        State state = State.of(row.getByte("state"));
        // A new entry does not write these cells. If they are there, an evicted entry has come back from a replica that
        // was down for long:
        // its end must not end a claim.
        boolean isSettled = state.isPurgeable();
        boolean hasResult = isSettled && row.getColumnDefinitions().contains("result");
        Standing standing = new Standing(
                state,
                Objects.requireNonNull(row.getUuid("change")),
                isSettled || state == State.UNKNOWN ? row.get("settled", Long.class) : null,
                isSettled ? row.get("expires", Long.class) : null,
                hasResult ? row.getByteBuffer("result") : null);
        return new StoredEntry(id, life, hold, standing);
    }

    private static String text(Row row, String column) {
        return Objects.requireNonNull(row.getString(column));
    }
}
