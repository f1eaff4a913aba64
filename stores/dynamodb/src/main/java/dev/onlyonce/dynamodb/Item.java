package dev.onlyonce.dynamodb;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreRejected;
import dev.onlyonce.store.StoreTime;
import dev.onlyonce.store.Terms;
import dev.onlyonce.store.Tokens;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** An item as it is stored: an entry with the audit of its key, or the audit alone. Immutable. */
final class Item {
    static final int FORMAT = 1;
    private static final int TOKEN_BYTES = 16;
    private static final int MICROS = 1_000_000;

    private final Map<String, AttributeValue> values;

    private Item(Map<String, AttributeValue> values) {
        this.values = values;
    }

    /**
     * As it is stored.
     *
     * @throws StoreRejected if a newer release wrote it
     */
    static Item of(Map<String, AttributeValue> values) {
        Item item = new Item(values);
        if (item.number(Attribute.FORMAT, FORMAT) != FORMAT) {
            throw new StoreRejected("The entry " + Scan.name(values) + " was written by a newer release", null);
        }
        return item;
    }

    Map<String, AttributeValue> values() {
        return values;
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    long number(String name) {
        return Long.parseLong(requireNonNull(values.get(name), name).n());
    }

    long number(String name, long otherwise) {
        return has(name) ? number(name) : otherwise;
    }

    String text(String name) {
        return requireNonNull(values.get(name), name).s();
    }

    byte[] bytes(String name) {
        return requireNonNull(values.get(name), name).b().asByteArrayUnsafe();
    }

    ItemKey key() {
        return new ItemKey(requireNonNull(values.get(Attribute.PK)).b());
    }

    EntryId id() {
        return new EntryId(text(Attribute.TENANT), text(Attribute.SCOPE), text(Attribute.KEY));
    }

    /**
     * What the reader makes of this item.
     *
     * @throws StoreRejected if it cannot be read: somebody else wrote it
     */
    <T> T read(Function<Item, T> reader) {
        try {
            return reader.apply(this);
        } catch (StoreException e) {
            throw e;
        } catch (RuntimeException e) {
            throw new StoreRejected("The entry " + Scan.name(values) + " cannot be read: " + e, e);
        }
    }

    /** Null where only the audit is left. */
    @Nullable
    State state() {
        return read(item -> Optional.ofNullable(state(number(Attribute.STATE)))).orElse(null);
    }

    static @Nullable State state(long code) {
        return code == 0 ? null : State.of((int) code);
    }

    int attempt() {
        return (int) number(Attribute.ATTEMPT);
    }

    boolean isRevision(Item other) {
        return number(Attribute.REVISION) == other.number(Attribute.REVISION);
    }

    /** When nothing is left of an entry that expires. */
    long ending() {
        long expires = number(Attribute.EXPIRES);
        return state() == State.RETRYABLE ? expires : expires + number(Attribute.TOMBSTONE);
    }

    /** As {@link dev.onlyonce.store.Life#goneAt}, when only the attributes for counting were read. */
    boolean isGone(long now) {
        return state() == null || (has(Attribute.EXPIRES) && ending() <= now);
    }

    /**
     * The entry as it is stored; null where only the audit is left.
     *
     * @throws StoreRejected if it cannot be read: somebody else wrote it
     */
    @Nullable
    Entry stored() {
        return read(Item::asEntry).orElse(null);
    }

    /** The entry as readers see it at this time; empty if there is none. */
    Optional<Entry> entry(long now) {
        return Life.visible(stored(), StoreTime.at(instant(now)));
    }

    private Optional<Entry> asEntry() {
        State state = state();
        if (state == null) {
            return Optional.empty();
        }
        Terms terms = new Terms(
                Duration.ofMillis(number(Attribute.LEASE)),
                OnLeaseLost.of((int) number(Attribute.ON_LEASE_LOST)),
                Duration.ofMillis(number(Attribute.RETENTION) / 1000),
                Duration.ofMillis(number(Attribute.TOMBSTONE) / 1000));
        return Optional.of(new Entry(
                id(),
                text(Attribute.OPERATION),
                fingerprint(),
                state,
                has(Attribute.TOKEN) ? token(bytes(Attribute.TOKEN)) : null,
                text(Attribute.OWNER),
                attempt(),
                terms,
                instant(number(Attribute.CREATED)),
                instant(number(Attribute.LEASE_UNTIL)),
                optional(Attribute.SETTLED),
                optional(Attribute.EXPIRES),
                has(Attribute.RESULT) ? bytes(Attribute.RESULT) : null,
                Instant.EPOCH));
    }

    private @Nullable Instant optional(String name) {
        return has(name) ? instant(number(name)) : null;
    }

    private Fingerprint fingerprint() {
        ByteBuffer in = ByteBuffer.wrap(bytes(Attribute.FINGERPRINT));
        int version = in.getInt();
        byte[] digest = new byte[Fingerprint.DIGEST_BYTES];
        in.get(digest);
        return Fingerprint.stored(version, digest, has(Attribute.TARGET) ? text(Attribute.TARGET) : null);
    }

    static byte[] bytes(Fingerprint fingerprint) {
        return ByteBuffer.allocate(Integer.BYTES + Fingerprint.DIGEST_BYTES)
                .putInt(fingerprint.version())
                .put(fingerprint.digest())
                .array();
    }

    static byte[] bytes(UUID token) {
        return ByteBuffer.allocate(TOKEN_BYTES)
                .putLong(token.getMostSignificantBits())
                .putLong(token.getLeastSignificantBits())
                .array();
    }

    private static UUID token(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        return new UUID(in.getLong(), in.getLong());
    }

    static long micros(Instant instant) {
        return instant.getEpochSecond() * MICROS + instant.getNano() / 1000;
    }

    static Instant instant(long micros) {
        return Instant.ofEpochSecond(micros / MICROS, micros % MICROS * 1000);
    }

    static long micros(Duration duration) {
        return duration.toSeconds() * MICROS + duration.toNanosPart() / 1000;
    }

    static AttributeValue value(long number) {
        return AttributeValue.fromN(Long.toString(number));
    }

    static AttributeValue value(byte[] bytes) {
        return AttributeValue.fromB(SdkBytes.fromByteArrayUnsafe(bytes));
    }

    /** A revision that no item ever had. */
    static AttributeValue newRevision() {
        return value(Tokens.next().getMostSignificantBits());
    }

    /** A changed copy. */
    Edit edit() {
        return new Edit(new HashMap<>(values));
    }

    /** An item that is being made. */
    static final class Edit {
        private final Map<String, AttributeValue> values;

        private Edit(Map<String, AttributeValue> values) {
            this.values = values;
        }

        /** For a key that has nothing yet. */
        static Edit of(EntryId id) {
            return new Edit(new HashMap<>())
                    .set(Attribute.PK, ItemKey.of(id).value())
                    .set(Attribute.FORMAT, FORMAT)
                    .set(Attribute.TENANT, AttributeValue.fromS(id.tenant()))
                    .set(Attribute.SCOPE, AttributeValue.fromS(id.scope()))
                    .set(Attribute.KEY, AttributeValue.fromS(id.key()));
        }

        Edit set(String name, AttributeValue value) {
            values.put(name, value);
            return this;
        }

        Edit set(String name, long number) {
            return set(name, value(number));
        }

        Edit set(String name, String text) {
            return set(name, AttributeValue.fromS(text));
        }

        /** Sets it, or removes it for null. */
        Edit setOrRemove(String name, byte @Nullable [] bytes) {
            return bytes == null ? remove(name) : set(name, value(bytes));
        }

        Edit remove(String... names) {
            values.keySet().removeAll(Arrays.asList(names));
            return this;
        }

        /** In the index for this, at this time. */
        Edit due(IndexKind kind, long at) {
            ItemKey key = new ItemKey(requireNonNull(values.get(Attribute.PK)).b());
            return set(Attribute.DUE_KIND, key.due(kind)).set(Attribute.DUE_AT, at);
        }

        Item done() {
            return new Item(Map.copyOf(set(Attribute.REVISION, newRevision()).values));
        }
    }
}
