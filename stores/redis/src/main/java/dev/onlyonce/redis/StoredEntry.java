package dev.onlyonce.redis;

import static dev.onlyonce.redis.Partitions.bytes;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.AuditRecord;
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
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An entry as it is stored, and its bytes. Numbers begin with their highest byte:
 *
 * <pre>
 *   0 format         1 state          2 flags          3 attempt, 4 bytes
 *   7 created       15 leased until                                                    doubles, in µs
 *  23 token, 16 bytes
 *  39 settled (0: not)               47 expires (0: does not)                          doubles, in µs
 *  55 lease policy  56 lease         64 retention     72 tombstone                     doubles, in ms
 *  80 fingerprint, 36 bytes         116 operation, owner and target, each with its length in 2 bytes
 * </pre>
 *
 * Then follow why it was settled, with its length, if the entry is the record of that, and the result, to the end.
 *
 * @param entry as it was written, whether or not its retention is over
 * @param ownReason why it was settled, if the audit has no record of that: the entry is the record
 * @param isFirst whether the audit has no record of the entry's first change: it goes with the second one
 * @param raw the bytes up to the result; it may be there too, or its beginning
 */
record StoredEntry(Entry entry, @Nullable String ownReason, boolean isFirst, byte[] raw) {
    /** Everything but the result fits: two names and a reason of at most 765 and 1500 bytes, a target and 130 bytes. */
    static final int HEAD_BYTES = 4096;

    /** Whatever changes an entry changes one of these first bytes. */
    static final int REVISION_BYTES = 55;

    static final int CREATED_AT = 7;
    static final int LEASE_AT = CREATED_AT + Double.BYTES;
    static final int TOKEN_AT = LEASE_AT + Double.BYTES;
    static final int SETTLED_AT = TOKEN_AT + 2 * Long.BYTES;

    /** What failures say of an entry that a newer release wrote. */
    static final String FOREIGN = "written by another release";
    /** And of one that somebody has damaged. */
    static final String UNREADABLE = " cannot be read";

    private static final int FORMAT = 3;
    private static final int TOKEN_FLAG = 1;
    private static final int RESULT_FLAG = 2;
    private static final int FIRST_FLAG = 4;
    private static final int OWN_FLAG = 8;
    private static final UUID NO_TOKEN = new UUID(0, 0);
    /** Without texts and result. */
    private static final int FIXED_BYTES =
            REVISION_BYTES + 1 + 3 * Double.BYTES + Integer.BYTES + Fingerprint.DIGEST_BYTES;

    private static final int MICROS = 1_000_000;

    /**
     * Reads bytes.
     *
     * @param raw at least up to the result
     * @param now when they were read
     * @throws StoreUnavailable if they are not an entry
     */
    static StoredEntry of(EntryId id, byte[] raw, Instant now) {
        if (raw[0] != FORMAT) {
            throw new StoreUnavailable("The entry " + id + " was " + FOREIGN, null);
        }
        try {
            return read(id, raw, now);
        } catch (RuntimeException e) {
            throw new StoreUnavailable("The entry " + id + UNREADABLE + ": " + e, e);
        }
    }

    private static StoredEntry read(EntryId id, byte[] raw, Instant now) {
        ByteBuffer in = ByteBuffer.wrap(raw, 1, raw.length - 1);
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
        int version = in.getInt();
        byte[] digest = new byte[Fingerprint.DIGEST_BYTES];
        in.get(digest);
        String operation = text(in);
        String owner = text(in);
        String target = text(in);
        String ownReason = (flags & OWN_FLAG) == 0 ? null : text(in);
        Entry entry = new Entry(
                id,
                operation,
                Fingerprint.stored(version, digest, target.isEmpty() ? null : target),
                state,
                (flags & TOKEN_FLAG) == 0 ? null : token,
                owner,
                attempt,
                terms,
                created,
                leaseUntil,
                settled,
                expires,
                (flags & RESULT_FLAG) == 0 ? null : Arrays.copyOfRange(raw, in.position(), raw.length),
                now);
        return new StoredEntry(entry, ownReason, (flags & FIRST_FLAG) != 0, raw);
    }

    /** The entry with its bytes, without the result. */
    static StoredEntry of(Entry entry, @Nullable String ownReason, boolean isFirst) {
        Terms terms = entry.terms();
        String target = entry.fingerprint().target();
        byte[][] texts = {bytes(entry.operation()), bytes(entry.owner()), bytes(target == null ? "" : target), {}, {}};
        int textCount = 3;
        int length = FIXED_BYTES;
        if (ownReason != null) {
            texts[textCount++] = bytes(ownReason);
        }
        for (int i = 0; i < textCount; i++) {
            length += Short.BYTES + texts[i].length;
        }
        UUID token = entry.token() == null ? NO_TOKEN : entry.token();
        ByteBuffer out = ByteBuffer.allocate(length)
                .put((byte) FORMAT)
                .put((byte) entry.state().code())
                .put(flags(entry, ownReason != null, isFirst))
                .putInt(entry.attempt())
                .putDouble(number(entry.createdAt()))
                .putDouble(number(entry.leaseUntil()))
                .putLong(token.getMostSignificantBits())
                .putLong(token.getLeastSignificantBits())
                .putDouble(entry.settledAt() == null ? 0 : number(entry.settledAt()))
                .putDouble(entry.expiresAt() == null ? 0 : number(entry.expiresAt()))
                .put((byte) terms.onLeaseLost().code())
                .putDouble((double) terms.lease().toMillis())
                .putDouble((double) terms.retention().toMillis())
                .putDouble((double) terms.tombstone().toMillis())
                .putInt(entry.fingerprint().version())
                .put(entry.fingerprint().digest());
        for (int i = 0; i < textCount; i++) {
            out.putShort((short) texts[i].length).put(texts[i]);
        }
        return new StoredEntry(entry, ownReason, isFirst, out.array());
    }

    private static byte flags(Entry entry, boolean isOwn, boolean isFirst) {
        return (byte) ((entry.token() == null ? 0 : TOKEN_FLAG)
                | (entry.result() == null ? 0 : RESULT_FLAG)
                | (isFirst ? FIRST_FLAG : 0)
                | (isOwn ? OWN_FLAG : 0));
    }

    /** An open claim as the script has written it at this time: created or not with the lease that it was given then. */
    StoredEntry claimedAt(Instant at, Instant leaseUntil, boolean isCreated) {
        byte[] written = raw.clone();
        ByteBuffer out = ByteBuffer.wrap(written);
        Instant created = isCreated ? at : entry.createdAt();
        out.putDouble(CREATED_AT, number(created)).putDouble(LEASE_AT, number(leaseUntil));
        Entry claimed = new Entry(
                entry.id(),
                entry.operation(),
                entry.fingerprint(),
                entry.state(),
                entry.token(),
                entry.owner(),
                entry.attempt(),
                entry.terms(),
                created,
                leaseUntil,
                null,
                null,
                null,
                at);
        return new StoredEntry(claimed, null, isFirst, written);
    }

    /** What the stored bytes begin with, unless the entry has changed. */
    byte[] revision() {
        return Arrays.copyOf(raw, REVISION_BYTES);
    }

    /**
     * What the audit has no record of, because the entry is the record: its first change until there is a second one, and an ordinary
     * settlement if those are not recorded. Whether or not the entry is past its retention.
     */
    List<AuditRecord> ownRecords() {
        boolean isSettled = ownReason != null;
        Instant settled = entry.settledAt() == null ? entry.createdAt() : entry.settledAt();
        long number = AuditStreams.ownNumber(isSettled ? settled : entry.createdAt());
        List<AuditRecord> records = new ArrayList<>();
        if (isFirst) {
            State first = entry.state() == State.PENDING ? State.PENDING : State.PROCESSING;
            records.add(new AuditRecord(
                    number,
                    AuditStreams.first(entry.id(), entry.operation(), first, entry.owner()),
                    entry.createdAt()));
        }
        if (ownReason != null) {
            records.add(new AuditRecord(number, ownSettlement(ownReason), settled));
        }
        return records;
    }

    /** The settlement that the entry is the record of. */
    Transition ownSettlement(String reason) {
        return new Transition(
                entry.id(), entry.operation(), State.PROCESSING, entry.state(), entry.attempt(), entry.owner(), reason);
    }

    static String text(ByteBuffer in) {
        byte[] text = new byte[Short.toUnsignedInt(in.getShort())];
        in.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static Duration millis(ByteBuffer in) {
        double millis = in.getDouble();
        if (Double.isNaN(millis)) {
            throw new IllegalArgumentException("its terms are damaged");
        }
        return Duration.ofMillis((long) millis);
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

    static double number(Instant instant) {
        return (double) micros(instant);
    }

    static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }
}
