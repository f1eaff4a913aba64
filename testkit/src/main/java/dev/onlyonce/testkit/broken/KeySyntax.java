package dev.onlyonce.testkit.broken;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads the key header. */
record KeySyntax(@Nullable Flaw flaw) {
    /** What the database cannot store. */
    static final String OVERFLOW = "\u0000overflow";

    private static final int LENGTH_MAX = 255;
    private static final int CUT = 64;
    private static final int COLUMN = 256;

    static KeySyntax of(@Nullable Flaw flaw) {
        return new KeySyntax(flaw);
    }

    /** The key; null if there is none that can be used. */
    @Nullable
    String read(List<String> lines) {
        if (lines.isEmpty()) {
            return flaw == Flaw.KEY_MISSING ? "none" : null;
        }
        String key = lines.get(0);
        boolean quoted = key.length() > 1 && key.startsWith("\"") && key.endsWith("\"");
        if (quoted && flaw != Flaw.KEY_QUOTED) {
            key = key.substring(1, key.length() - 1);
        }
        key = tidy(key);
        boolean several = lines.size() > 1 && flaw != Flaw.KEY_TWO_LINES;
        boolean empty = key.isEmpty() && flaw != Flaw.KEY_EMPTY;
        boolean control = key.chars().anyMatch(c -> c < '!' || c > '~') && flaw != Flaw.KEY_CONTROL;
        if (several || empty || control) {
            return null;
        }
        if (key.length() > LENGTH_MAX) {
            return tooLong(key);
        }
        return flaw == Flaw.KEY_255 && key.length() > CUT ? key.substring(0, CUT) : key;
    }

    private String tidy(String key) {
        if (flaw == Flaw.KEY_FOLDED) {
            return key.toLowerCase(Locale.ROOT);
        }
        if (flaw == Flaw.KEY_SQUEEZED) {
            return key.replaceAll("-+", "-");
        }
        return flaw == Flaw.KEY_TRIMMED ? key.strip() : key;
    }

    private @Nullable String tooLong(String key) {
        if (flaw == Flaw.KEY_TRUNCATED) {
            return key.substring(0, COLUMN);
        }
        return flaw == Flaw.KEY_256 ? OVERFLOW : null;
    }
}
