package dev.onlyonce.fingerprint;

import org.jspecify.annotations.Nullable;

/** Targets as every store can keep them and every terminal can show them: of bounded length, without invisible characters. */
final class TargetText {
    private static final char CUT = '…';
    private static final int CUT_BYTES = 3;
    private static final char REPLACED = '\uFFFD';

    private TargetText() {}

    /** The text itself if nothing is wrong with it, as with nearly all; null for none. */
    static @Nullable String clean(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return null;
        }
        return isPlain(text) ? text : rewritten(text);
    }

    private static boolean isPlain(String text) {
        if (text.length() > Fingerprint.TARGET_BYTES_MAX) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < ' ' || c > '~') {
                return false;
            }
        }
        return true;
    }

    private static String rewritten(String text) {
        StringBuilder clean = new StringBuilder();
        int bytes = 0;
        int fits = 0;
        for (int i = 0; i < text.length(); i = text.offsetByCodePoints(i, 1)) {
            int point = visible(text.codePointAt(i));
            bytes += utf8Bytes(point);
            if (bytes > Fingerprint.TARGET_BYTES_MAX) {
                clean.setLength(fits);
                return clean.append(CUT).toString();
            }
            clean.appendCodePoint(point);
            if (bytes <= Fingerprint.TARGET_BYTES_MAX - CUT_BYTES) {
                fits = clean.length();
            }
        }
        return clean.toString();
    }

    private static int visible(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> REPLACED;
            default -> point;
        };
    }

    private static int utf8Bytes(int point) {
        if (point < 0x80) {
            return 1;
        }
        if (point < 0x800) {
            return 2;
        }
        return point < 0x10000 ? 3 : 4;
    }
}
