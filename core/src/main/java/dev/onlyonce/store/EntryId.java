package dev.onlyonce.store;

import dev.onlyonce.internal.Shortened;

/**
 * The identity of an entry: the primary key of every store. Compared byte for byte, without collation or case folding.
 *
 * @param tenant who the key belongs to
 * @param space the empty string for keys that are unique in their tenant, else the operation they are unique in
 * @param key the client's key
 */
public record EntryId(String tenant, String space, String key) implements Comparable<EntryId> {

    /** The order in which every batch touches entries, so that two nodes cannot deadlock. */
    @Override
    public int compareTo(EntryId other) {
        int order = tenant.compareTo(other.tenant);
        if (order == 0) {
            order = space.compareTo(other.space);
        }
        return order == 0 ? key.compareTo(other.key) : order;
    }

    /** For logs: the key is shortened. */
    @Override
    public String toString() {
        return tenant + (space.isEmpty() ? "" : " " + space) + " " + Shortened.key(key);
    }
}
