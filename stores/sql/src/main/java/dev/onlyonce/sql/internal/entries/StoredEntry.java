package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.SettleResult;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** From rows to entries. Times are stored in microseconds since 1970-01-01 UTC, so that no driver or zone is involved. */
public final class StoredEntry {
    private StoredEntry() {}

    /**
     * Reads the columns tenant, space, key_, operation, fingerprint_version, fingerprint, target, state, token, owner,
     * attempt, lease_us, on_lease_lost, retention_us, tombstone_us, created_at, lease_until, settled_at, expires_at, result
     * and the clock, in this order.
     *
     * @throws IllegalArgumentException if a value is one that this release does not know: such an entry is never executed
     */
    public static Entry read(ResultSet row, Columns columns) throws SQLException {
        return read(row, columns, OnLeaseLost::of);
    }

    /** The same for a sweep: a policy that this release does not know is no permission to repeat, and no reason to keep a claim. */
    static Entry readForChange(ResultSet row, Columns columns) throws SQLException {
        return read(row, columns, StoredEntry::onLeaseLost);
    }

    private static OnLeaseLost onLeaseLost(int code) {
        for (OnLeaseLost policy : OnLeaseLost.values()) {
            if (policy.code() == code) {
                return policy;
            }
        }
        return OnLeaseLost.UNKNOWN;
    }

    private static Entry read(ResultSet row, Columns columns, IntFunction<OnLeaseLost> policy) throws SQLException {
        EntryId id = id(row, 1, columns);
        try {
            return read(id, row, columns, policy);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the entry " + id + " cannot be read: " + e.getMessage(), e);
        }
    }

    private static Entry read(EntryId id, ResultSet row, Columns columns, IntFunction<OnLeaseLost> policy)
            throws SQLException {
        return new Entry(
                id,
                columns.text(row, 4),
                Fingerprint.stored(row.getInt(5), row.getBytes(6), columns.textOrNull(row, 7)),
                State.of(row.getInt(8)),
                columns.token(row, 9),
                columns.text(row, 10),
                row.getInt(11),
                new Terms(
                        duration(row.getLong(12)),
                        policy.apply(row.getInt(13)),
                        duration(row.getLong(14)),
                        duration(row.getLong(15))),
                instant(row.getLong(16)),
                instant(row.getLong(17)),
                instantOrNull(row, 18),
                instantOrNull(row, 19),
                row.getBytes(20),
                instant(row.getLong(21)));
    }

    /** Reads an id from three columns. */
    public static EntryId id(ResultSet row, int first, Columns columns) throws SQLException {
        return new EntryId(columns.text(row, first), columns.text(row, first + 1), columns.text(row, first + 2));
    }

    /** Reads settled_at and expires_at. */
    public static SettleResult.Settled settled(ResultSet row, int first) throws SQLException {
        return new SettleResult.Settled(instant(row.getLong(first)), instantOrNull(row, first + 1));
    }

    public static long micros(Duration duration) {
        return TimeUnit.SECONDS.toMicros(duration.getSeconds()) + duration.getNano() / 1000;
    }

    public static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }

    public static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }

    private static Duration duration(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    private static @Nullable Instant instantOrNull(ResultSet row, int column) throws SQLException {
        long micros = row.getLong(column);
        return row.wasNull() ? null : instant(micros);
    }
}
