package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The form in which entries are stored; {@code entry.lua} describes and writes it. */
final class StoredEntry {
    /** Everything but the result fits: two names of 255 characters, which are at most 765 bytes each, a target and 130 bytes. */
    static final int HEAD_BYTES = 2560;

    private static final int FORMAT = 1;
    private static final int FORMAT_WITH_TARGET = 2;
    private static final int TOKEN_FLAG = 1;
    private static final int RESULT_FLAG = 2;
    private static final int TOKEN_BYTES = 16;
    /** Of the tail, without its texts. */
    private static final int TAIL_BYTES =
            1 + 3 * Double.BYTES + Integer.BYTES + Fingerprint.DIGEST_BYTES + 2 * Short.BYTES;

    private static final int MICROS = 1_000_000;

    private StoredEntry() {}

    /** The entry as readers see it at this time; empty if nothing is stored, or it is past its retention and tombstone. */
    static Optional<Entry> read(EntryId id, byte @Nullable [] raw, Instant now) {
        if (raw == null || raw.length == 0) {
            return Optional.empty();
        }
        ByteBuffer in = ByteBuffer.wrap(raw);
        int format = in.get();
        if (format != FORMAT && format != FORMAT_WITH_TARGET) {
            throw new StoreUnavailable("The entry " + id + " was written by a newer release", null);
        }
        State state = State.of(in.get());
        int flags = in.get();
        int attempt = in.getInt();
        UUID token = new UUID(in.getLong(), in.getLong());
        Instant created = instant(in.getDouble());
        Instant leaseUntil = instant(in.getDouble());
        Instant settled = optional(in.getDouble());
        Instant expires = optional(in.getDouble());
        OnLeaseLost onLeaseLost = OnLeaseLost.of(in.get());
        Terms terms = new Terms(millis(in), onLeaseLost, millis(in), millis(in));
        if (isGone(state, expires, terms, now)) {
            return Optional.empty();
        }
        int version = in.getInt();
        byte[] digest = new byte[Fingerprint.DIGEST_BYTES];
        in.get(digest);
        String operation = text(in);
        String owner = text(in);
        String target = format == FORMAT_WITH_TARGET ? text(in) : null;
        boolean expired = state.isAnswered() && expires != null && !expires.isAfter(now);
        return Optional.of(new Entry(
                id,
                operation,
                Fingerprint.stored(version, digest, target),
                expired ? State.EXPIRED : state,
                (flags & TOKEN_FLAG) == 0 ? null : token,
                owner,
                attempt,
                terms,
                created,
                leaseUntil,
                settled,
                expires,
                expired || (flags & RESULT_FLAG) == 0 ? null : rest(in),
                now));
    }

    private static boolean isGone(State state, @Nullable Instant expires, Terms terms, Instant now) {
        return expires != null && !(state == State.RETRYABLE ? expires : expires.plus(terms.tombstone())).isAfter(now);
    }

    /** What a claim brings, as it stands in the entry: terms, fingerprint, operation, owner. */
    static byte[] tail(ClaimRequest claim) {
        Terms terms = claim.terms();
        byte[] operation = bytes(claim.operation());
        byte[] owner = bytes(claim.owner());
        return ByteBuffer.allocate(TAIL_BYTES + operation.length + owner.length)
                .put((byte) terms.onLeaseLost().code())
                .putDouble((double) terms.lease().toMillis())
                .putDouble((double) terms.retention().toMillis())
                .putDouble((double) terms.tombstone().toMillis())
                .putInt(claim.fingerprint().version())
                .put(claim.fingerprint().digest())
                .putShort((short) operation.length)
                .put(operation)
                .putShort((short) owner.length)
                .put(owner)
                .array();
    }

    static byte[] token(UUID token) {
        return ByteBuffer.allocate(TOKEN_BYTES)
                .putLong(token.getMostSignificantBits())
                .putLong(token.getLeastSignificantBits())
                .array();
    }

    /** Text with its length in two bytes before it. */
    static String text(ByteBuffer in) {
        byte[] text = new byte[Short.toUnsignedInt(in.getShort())];
        in.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static byte[] rest(ByteBuffer in) {
        byte[] rest = new byte[in.remaining()];
        in.get(rest);
        return rest;
    }

    private static Duration millis(ByteBuffer in) {
        return Duration.ofMillis((long) in.getDouble());
    }

    private static @Nullable Instant optional(double micros) {
        return micros == 0 ? null : instant(micros);
    }

    /** Every instant of the scripts is whole microseconds, which a double holds exactly for 285 years from 1970. */
    static Instant instant(double micros) {
        return instant((long) micros);
    }

    static Instant instant(long micros) {
        return Instant.ofEpochSecond(micros / MICROS, micros % MICROS * 1000);
    }

    static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }
}
