package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditRecord;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Transition;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The form in which entries are stored; {@code entry.lua} describes and writes it. */
final class StoredEntry {
    /** Everything but the result fits: two names and a reason of at most 765 and 1500 bytes, a target and 130 bytes. */
    static final int HEAD_BYTES = 4096;

    /** What failures say of an entry that a newer release wrote, as {@code entry.lua} does. */
    static final String FOREIGN = "written by another release";
    /** And of one that somebody has damaged. */
    static final String UNREADABLE = " cannot be read";

    private static final int FORMAT = 3;
    private static final int TOKEN_FLAG = 1;
    private static final int RESULT_FLAG = 2;
    private static final int FIRST_FLAG = 4;
    private static final int OWN_FLAG = 8;
    private static final int TOKEN_BYTES = 16;
    /** Format, state, flags and attempt. */
    private static final int HEAD_START_BYTES = 3 + Integer.BYTES;
    /** Of the tail, without its texts. */
    private static final int TAIL_BYTES = TOKEN_BYTES
            + 2 * Double.BYTES
            + 1
            + 3 * Double.BYTES
            + Integer.BYTES
            + Fingerprint.DIGEST_BYTES
            + 3 * Short.BYTES;

    private static final int CREATED_AT = HEAD_START_BYTES;
    private static final int SETTLED_AT = CREATED_AT + 2 * Double.BYTES + TOKEN_BYTES;
    private static final int NAMES_AT =
            SETTLED_AT + 2 * Double.BYTES + 1 + 3 * Double.BYTES + Integer.BYTES + Fingerprint.DIGEST_BYTES;

    private static final int MICROS = 1_000_000;

    private StoredEntry() {}

    /** The entry as readers see it at this time; empty if nothing is stored, or it is past its retention and tombstone. */
    static Optional<Entry> read(EntryId id, byte @Nullable [] raw, Instant now) {
        if (raw == null || raw.length == 0) {
            return Optional.empty();
        }
        ByteBuffer in = ByteBuffer.wrap(raw);
        checkFormat(id, in);
        try {
            return read(id, in, now);
        } catch (RuntimeException e) {
            throw new StoreUnavailable("The entry " + id + UNREADABLE + ": " + e, e);
        }
    }

    private static Optional<Entry> read(EntryId id, ByteBuffer in, Instant now) {
        State state = State.of(in.get());
        int flags = in.get();
        int attempt = in.getInt();
        Instant created = instant(in.getDouble());
        Instant leaseUntil = instant(in.getDouble());
        UUID token = new UUID(in.getLong(), in.getLong());
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
        String target = text(in);
        if ((flags & OWN_FLAG) != 0) {
            skipText(in);
        }
        boolean expired = state.isAnswered() && expires != null && !expires.isAfter(now);
        return Optional.of(new Entry(
                id,
                operation,
                Fingerprint.stored(version, digest, target.isEmpty() ? null : target),
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

    private static void checkFormat(EntryId id, ByteBuffer in) {
        if (in.get() != FORMAT) {
            throw new StoreUnavailable("The entry " + id + " was " + FOREIGN, null);
        }
    }

    /**
     * What the audit has no record of, because the entry is the record: its first change until there is a second one, and an ordinary
     * settlement if those are not recorded. Whether or not the entry is past its retention.
     */
    static List<AuditRecord> ownRecords(EntryId id, byte @Nullable [] raw) {
        if (raw == null || raw.length == 0) {
            return List.of();
        }
        ByteBuffer in = ByteBuffer.wrap(raw);
        checkFormat(id, in);
        State state = State.of(in.get());
        int flags = in.get();
        int attempt = in.getInt();
        Instant created = instant(in.getDouble(CREATED_AT));
        Instant settled = instant(in.getDouble(SETTLED_AT));
        in.position(NAMES_AT);
        String operation = text(in);
        String owner = text(in);
        boolean isSettled = (flags & OWN_FLAG) != 0;
        long number = AuditStreams.ownNumber(isSettled ? settled : created);
        List<AuditRecord> records = new ArrayList<>();
        if ((flags & FIRST_FLAG) != 0) {
            State first = state == State.PENDING ? state : State.PROCESSING;
            records.add(new AuditRecord(number, AuditStreams.first(id, operation, first, owner), created));
        }
        if (isSettled) {
            skipText(in);
            Transition settlement = new Transition(id, operation, State.PROCESSING, state, attempt, owner, text(in));
            records.add(new AuditRecord(number, settlement, settled));
        }
        return records;
    }

    private static boolean isGone(State state, @Nullable Instant expires, Terms terms, Instant now) {
        return expires != null && !(state == State.RETRYABLE ? expires : expires.plus(terms.tombstone())).isAfter(now);
    }

    /** What a claim brings for a new entry, before its times. */
    static byte[] head(ClaimRequest claim) {
        return ByteBuffer.allocate(HEAD_START_BYTES)
                .put((byte) FORMAT)
                .put((byte) claim.start().code())
                .put((byte) (TOKEN_FLAG | FIRST_FLAG))
                .putInt(claim.start() == State.PROCESSING ? 1 : 0)
                .array();
    }

    /** And after them: token, two times that it does not have yet, terms, fingerprint, operation, owner, target. */
    static byte[] tail(ClaimRequest claim) {
        Terms terms = claim.terms();
        String target = claim.fingerprint().target();
        byte[] operation = bytes(claim.operation());
        byte[] owner = bytes(claim.owner());
        byte[] about = bytes(target == null ? "" : target);
        return ByteBuffer.allocate(TAIL_BYTES + operation.length + owner.length + about.length)
                .putLong(claim.token().getMostSignificantBits())
                .putLong(claim.token().getLeastSignificantBits())
                .putDouble(0)
                .putDouble(0)
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
                .putShort((short) about.length)
                .put(about)
                .array();
    }

    static byte[] token(UUID token) {
        return ByteBuffer.allocate(TOKEN_BYTES)
                .putLong(token.getMostSignificantBits())
                .putLong(token.getLeastSignificantBits())
                .array();
    }

    /** Text with its length in two bytes before it. */
    static byte[] text(String text) {
        byte[] bytes = bytes(text);
        return ByteBuffer.allocate(Short.BYTES + bytes.length)
                .putShort((short) bytes.length)
                .put(bytes)
                .array();
    }

    static String text(ByteBuffer in) {
        byte[] text = new byte[Short.toUnsignedInt(in.getShort())];
        in.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static void skipText(ByteBuffer in) {
        int length = Short.toUnsignedInt(in.getShort());
        in.position(in.position() + length);
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
