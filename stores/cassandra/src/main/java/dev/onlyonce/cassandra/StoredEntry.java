package dev.onlyonce.cassandra;

import com.datastax.oss.driver.api.core.cql.Row;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Terms;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
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

    /** A new entry, as it was decided. */
    static StoredEntry created(Entry next, Moment moment, UUID change) {
        Life life = new Life(change, moment.shard(), Micros.of(next.createdAt()), next.operation(), next.fingerprint());
        return new StoredEntry(next.id(), life, hold(next), standing(next, change));
    }

    /** The same entry after a change that was decided. */
    StoredEntry changed(Entry next, UUID change) {
        return new StoredEntry(id, life, hold(next), standing(next, change));
    }

    private static Hold hold(Entry entry) {
        return new Hold(entry.token(), entry.owner(), entry.attempt(), entry.terms(), Micros.of(entry.leaseUntil()));
    }

    private static Standing standing(Entry entry, UUID change) {
        byte[] result = entry.result();
        return new Standing(
                entry.state(),
                change,
                micros(entry.settledAt()),
                micros(entry.expiresAt()),
                result == null ? null : ByteBuffer.wrap(result));
    }

    private static @Nullable Long micros(@Nullable Instant instant) {
        return instant == null ? null : Micros.of(instant);
    }

    State state() {
        return standing.state();
    }

    boolean isOpen() {
        return state() == State.PENDING || state() == State.PROCESSING;
    }

    /** The cluster's time for a decision: a change is not dated before the one that led here, although clocks differ by a little. */
    static StoreTime time(@Nullable StoredEntry entry, long earliest, long now) {
        Long settled = entry == null ? null : entry.standing.settled();
        long last = entry == null ? now : settled == null ? entry.life.created() : settled;
        return new StoreTime(Micros.instant(earliest), Micros.instant(Math.max(now, last)));
    }

    /** When nothing is left of it; null if it does not expire. */
    @Nullable
    Long end() {
        return dev.onlyonce.store.Life.goneAt(stored()).map(Micros::of).orElse(null);
    }

    /** The entry as readers see it; empty if it is gone. */
    Optional<Entry> visible(long now) {
        return dev.onlyonce.store.Life.visible(stored(), time(this, now, now));
    }

    /** The entry as it is stored. */
    Entry stored() {
        return new Entry(
                id,
                life.operation(),
                life.fingerprint(),
                state(),
                hold.token(),
                hold.owner(),
                hold.attempt(),
                hold.terms(),
                Micros.instant(life.created()),
                Micros.instant(hold.leaseUntil()),
                Micros.optional(standing.settled()),
                Micros.optional(standing.expires()),
                bytes(standing.result()),
                Instant.EPOCH);
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
