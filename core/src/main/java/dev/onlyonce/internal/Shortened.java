package dev.onlyonce.internal;

/** Keys as logs may show them: enough to find the entry, too little to use it. */
public final class Shortened {
    private static final int SHOWN_MAX = 8;

    private Shortened() {}

    /** The first characters of the key, at most a third of it, and its length. */
    public static String key(String key) {
        int shown = Math.min(SHOWN_MAX, key.length() / 3);
        return key.substring(0, shown) + "…(" + key.length() + ")";
    }
}
