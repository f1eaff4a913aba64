package dev.onlyonce;

/** What may be a key, a tenant or an operation's name. */
public final class KeyRules {
    /** As the IETF draft and Stripe have it; it also keeps the primary key within MySQL's 3072 bytes. */
    public static final int KEY_LENGTH_MAX = 255;
    /** Keeps the primary key within MySQL's 3072 bytes: 255 characters are at most 1020 bytes of UTF-8. */
    public static final int NAME_LENGTH_MAX = 255;

    private KeyRules() {}

    /** Throws {@link MalformedKey} unless this is 1-255 visible ASCII characters. */
    public static void checkKey(String key) {
        if (key.isEmpty()) {
            throw new MalformedKey(MalformedKey.Reason.EMPTY, "the key is empty");
        }
        if (key.length() > KEY_LENGTH_MAX) {
            throw new MalformedKey(
                    MalformedKey.Reason.TOO_LONG,
                    "the key has " + key.length() + " characters; at most " + KEY_LENGTH_MAX + " are allowed");
        }
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            if (c < 0x21 || c > 0x7e) {
                throw new MalformedKey(
                        MalformedKey.Reason.BAD_CHARACTER,
                        "the key has a character that is not visible ASCII at position " + (i + 1));
            }
        }
    }

    /** Throws {@link IllegalArgumentException} unless this is 1-255 characters of valid Unicode without controls. */
    public static void checkName(String what, String name) {
        if (name.isEmpty() || name.length() > NAME_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    what + " must have 1-" + NAME_LENGTH_MAX + " characters, but has " + name.length());
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean pair = Character.isHighSurrogate(c)
                    && i + 1 < name.length()
                    && Character.isLowSurrogate(name.charAt(i + 1));
            if (pair) {
                i++;
            } else if (Character.isISOControl(c) || Character.isSurrogate(c)) {
                throw new IllegalArgumentException(
                        what + " has a control character or half a surrogate pair at position " + (i + 1));
            }
        }
    }
}
