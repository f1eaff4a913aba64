package dev.onlyonce.store;

/**
 * The identity of an entry: the primary key of every store. Compared byte for byte, without collation or case folding.
 *
 * @param tenant who the key belongs to
 * @param scope the empty string for keys that are unique in their tenant, else the operation they are unique in
 * @param key the client's key
 */
public record EntryId(String tenant, String scope, String key) implements Comparable<EntryId> {
    private static final int SHOWN_MAX = 8;

    /**
     * The order in which every batch touches entries, so that two nodes cannot deadlock, and in which they are listed: that
     * of code points, which is that of UTF-8 bytes, as databases have it.
     */
    @Override
    public int compareTo(EntryId other) {
        int order = compare(tenant, other.tenant);
        if (order == 0) {
            order = compare(scope, other.scope);
        }
        return order == 0 ? compare(key, other.key) : order;
    }

    private static int compare(String left, String right) {
        int length = Math.min(left.length(), right.length());
        for (int i = 0; i < length; i++) {
            char a = left.charAt(i);
            char b = right.charAt(i);
            if (a != b) {
                // Half a pair stands for a code point above all that fit into one char.
                boolean pairs = Character.isSurrogate(a) != Character.isSurrogate(b);
                return pairs && Math.min(a, b) >= Character.MIN_SURROGATE
                        ? Character.compare(b, a)
                        : Character.compare(a, b);
            }
        }
        return Integer.compare(left.length(), right.length());
    }

    /** For logs: the key is shortened. */
    @Override
    public String toString() {
        return tenant + (scope.isEmpty() ? "" : " " + scope) + " " + shorten(key);
    }

    /** A key as logs may show it, enough to find the entry and too little to use it: its first characters and its length. */
    public static String shorten(String key) {
        int shown = Math.min(SHOWN_MAX, key.length() / 3);
        return key.substring(0, shown) + "…(" + key.length() + ")";
    }
}
