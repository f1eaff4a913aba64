package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.StoreRejected;

/** What all databases keep exactly as it is. Anything else could make two names one. */
public final class NameCheck {
    /** Fits the columns of MySQL: at most 1020 bytes of UTF-8. */
    private static final int LENGTH_MAX = 255;

    private NameCheck() {}

    /** Throws {@link StoreRejected} for a name that is too long, is not Unicode, or has a NUL. */
    public static void check(String what, String name) {
        if (name.length() > LENGTH_MAX) {
            throw new StoreRejected(what + " has " + name.length() + " characters; at most " + LENGTH_MAX, null);
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c == 0 || Character.isSurrogate(c)) {
                boolean pair = i + 1 < name.length() && Character.isSurrogatePair(c, name.charAt(i + 1));
                if (!pair) {
                    throw new StoreRejected(what + " has a NUL or half a surrogate pair at " + (i + 1), null);
                }
                i++;
            }
        }
    }
}
