package dev.onlyonce.store;

import org.jspecify.annotations.Nullable;

/**
 * Names and reasons as every store can keep them: of bounded length, without control characters and halves of characters.
 * A strange reason must not prevent a change from being recorded.
 */
public final class AuditText {
    /** The same as for every other name. */
    public static final int WHO_LENGTH_MAX = 255;
    /** Enough for a sentence and a ticket's address; an exception's message may be of any length. */
    public static final int WHY_LENGTH_MAX = 500;

    private AuditText() {}

    /** Who changed something. */
    public static String who(@Nullable String who) {
        return clean(who, WHO_LENGTH_MAX);
    }

    /** Why it was changed. */
    public static String why(@Nullable String why) {
        return clean(why, WHY_LENGTH_MAX);
    }

    private static String clean(@Nullable String given, int lengthMax) {
        // An exception without a message must not prevent a change from being recorded.
        String text = given == null ? "not given" : given;
        int length = Math.min(text.length(), lengthMax);
        StringBuilder clean = null;
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < length && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (Character.isISOControl(c) || Character.isSurrogate(c)) {
                clean = clean == null ? new StringBuilder(text.substring(0, length)) : clean;
                clean.setCharAt(i, Character.isSurrogate(c) ? '?' : ' ');
            }
        }
        return clean == null ? text.substring(0, length) : clean.toString();
    }
}
