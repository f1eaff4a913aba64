package dev.onlyonce.redis;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The form in which the shared cache holds an entry, before it is sealed: everything but the id, which the seal binds. */
final class CachedEntry {
    private static final int FORMAT = 1;

    private CachedEntry() {}

    static byte[] write(Entry entry) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(FORMAT);
            out.writeByte(entry.state().code());
            out.writeInt(entry.attempt());
            out.writeUTF(entry.operation());
            out.writeUTF(entry.owner());
            out.writeUTF(entry.token() == null ? "" : entry.token().toString());
            out.writeInt(entry.fingerprint().version());
            out.write(entry.fingerprint().digest());
            out.writeUTF(Objects.requireNonNullElse(entry.fingerprint().target(), ""));
            write(out, entry.terms());
            write(out, entry.createdAt());
            write(out, entry.leaseUntil());
            write(out, entry.settledAt());
            write(out, entry.expiresAt());
            write(out, entry.readAt());
            out.writeBoolean(entry.result() != null);
            if (entry.result() != null) {
                out.write(entry.result());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads it back.
     *
     * @throws RuntimeException if another release wrote it in another form
     */
    static Entry read(EntryId id, byte[] bytes) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            if (in.readByte() != FORMAT) {
                throw new IllegalArgumentException("another release wrote it");
            }
            State state = State.of(in.readByte());
            int attempt = in.readInt();
            String operation = in.readUTF();
            String owner = in.readUTF();
            String token = in.readUTF();
            int version = in.readInt();
            byte[] digest = in.readNBytes(Fingerprint.DIGEST_BYTES);
            String target = in.readUTF();
            Fingerprint fingerprint = Fingerprint.stored(version, digest, target.isEmpty() ? null : target);
            Terms terms = terms(in);
            Instant created = required(in);
            Instant leaseUntil = required(in);
            Instant settled = instant(in);
            Instant expires = instant(in);
            Instant readAt = required(in);
            byte[] result = in.readBoolean() ? in.readAllBytes() : null;
            return new Entry(
                    id,
                    operation,
                    fingerprint,
                    state,
                    token.isEmpty() ? null : UUID.fromString(token),
                    owner,
                    attempt,
                    terms,
                    created,
                    leaseUntil,
                    settled,
                    expires,
                    result,
                    readAt);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same entry at a later time. */
    static Entry at(Entry entry, Instant now) {
        return new Entry(
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
                entry.result(),
                now);
    }

    private static void write(DataOutputStream out, Terms terms) throws IOException {
        out.writeByte(terms.onLeaseLost().code());
        write(out, terms.lease());
        write(out, terms.retention());
        write(out, terms.tombstone());
    }

    private static Terms terms(DataInputStream in) throws IOException {
        OnLeaseLost onLeaseLost = OnLeaseLost.of(in.readByte());
        return new Terms(duration(in), onLeaseLost, duration(in), duration(in));
    }

    private static void write(DataOutputStream out, Duration duration) throws IOException {
        out.writeLong(duration.getSeconds());
        out.writeInt(duration.getNano());
    }

    private static Duration duration(DataInputStream in) throws IOException {
        return Duration.ofSeconds(in.readLong(), in.readInt());
    }

    private static void write(DataOutputStream out, @Nullable Instant instant) throws IOException {
        out.writeBoolean(instant != null);
        if (instant != null) {
            out.writeLong(instant.getEpochSecond());
            out.writeInt(instant.getNano());
        }
    }

    private static @Nullable Instant instant(DataInputStream in) throws IOException {
        return in.readBoolean() ? Instant.ofEpochSecond(in.readLong(), in.readInt()) : null;
    }

    private static Instant required(DataInputStream in) throws IOException {
        return Objects.requireNonNull(instant(in));
    }
}
