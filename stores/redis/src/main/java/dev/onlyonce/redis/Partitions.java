package dev.onlyonce.redis;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.StoreRejected;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32;

/**
 * Where entries live: a fixed number of partitions, each with a hash tag of its own, so that everything about an entry is in one
 * slot and changes together. Which partition an id belongs to never changes.
 *
 * @param prefix of all keys
 * @param count how many there are
 */
record Partitions(String prefix, int count) {
    /** In a cluster: more than any has masters, and few enough to ask all of them once a second. */
    static final int COUNT_CLUSTER = 64;
    /** On one server: few, because the items of a call that are in one partition share its commands. */
    static final int COUNT_SINGLE = 2;

    /** What the key of an entry has before the entry's id. */
    static final String ENTRY = "e:";
    /** Pending and processing entries by the end of their lease. */
    static final String LEASES = "leases";
    /** Purgeable entries by the time of their next purge. */
    static final String EXPIRIES = "expiries";
    /** Unknown entries, in the order of their ids. */
    static final String UNKNOWN = "unknown";
    /** The stream of the changes. */
    static final String AUDIT = "audit";
    /** How many records it has. */
    static final String AUDITED = "audited";

    /** How many entries each tenant has. */
    static final String TENANTS = "tenants";

    private static final int COUNT_MAX = 1024;
    private static final int NAME_LENGTH_MAX = 255;
    /** It cannot be in a name, and is before every other character: so members are in the order of ids. */
    private static final char SEPARATOR = 0;

    Partitions {
        if (prefix.isEmpty() || prefix.contains("{") || prefix.contains("}")) {
            throw new IllegalArgumentException("prefix must have a character and no braces: " + prefix);
        }
        if (count < 1 || count > COUNT_MAX) {
            throw new IllegalArgumentException("partitions must be between 1 and " + COUNT_MAX + ": " + count);
        }
    }

    byte[] key(int partition, String name) {
        return bytes(prefix + ":{" + partition + "}:" + name);
    }

    /** The key of an entry. */
    byte[] entry(int partition, EntryId id) {
        return joined(key(partition, ENTRY), member(id));
    }

    /** All keys of a partition but those of its entries. */
    List<byte[]> indexes(int partition) {
        return Stream.of(LEASES, EXPIRIES, UNKNOWN, AUDIT, AUDITED, TENANTS)
                .map(name -> key(partition, name))
                .toList();
    }

    int of(EntryId id) {
        return of(member(id));
    }

    int of(byte[] member) {
        CRC32 crc = new CRC32();
        crc.update(member);
        return (int) (crc.getValue() % count);
    }

    /** An id as a member of the indexes. */
    static byte[] member(EntryId id) {
        return bytes(id.tenant() + SEPARATOR + id.scope() + SEPARATOR + id.key());
    }

    static byte[] joined(byte[] first, byte[] second) {
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /** Whether it is the member of an id. */
    static boolean isId(byte[] member) {
        int separators = 0;
        for (byte each : member) {
            separators += each == SEPARATOR ? 1 : 0;
        }
        return separators == 2 && Arrays.equals(member(id(member)), member);
    }

    static EntryId id(byte[] member) {
        String text = new String(member, StandardCharsets.UTF_8);
        int scope = text.indexOf(SEPARATOR) + 1;
        int key = text.indexOf(SEPARATOR, scope) + 1;
        return new EntryId(text.substring(0, scope - 1), text.substring(scope, key - 1), text.substring(key));
    }

    /** Throws {@link StoreRejected} for a name that would not come back as it is, or could run into the next one. */
    static void check(String what, String name) {
        if (name.length() > NAME_LENGTH_MAX) {
            throw new StoreRejected(what + " has " + name.length() + " characters; at most " + NAME_LENGTH_MAX, null);
        }
        if (name.indexOf(SEPARATOR) >= 0 || !StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
            throw new StoreRejected(what + " has a NUL or half a surrogate pair", null);
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
