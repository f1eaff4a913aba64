package dev.onlyonce.http;

import dev.onlyonce.MalformedKey;
import java.util.regex.Pattern;

/**
 * The format that an operation requires of its keys, beyond the rules for all keys. Published for clients.
 *
 * @param name {@code any}, {@code uuid} or {@code length}
 * @param lengthMin the fewest characters
 */
public record KeyFormat(String name, int lengthMin) {
    private static final Pattern UUID =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");
    private static final int UUID_LENGTH = 36;
    private static final int LENGTH_MAX = 255;

    private static final String UUID_NAME = "uuid";

    /** Checks the length. */
    public KeyFormat {
        if (lengthMin < 1 || lengthMin > LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "the least length of a key must be 1 to " + LENGTH_MAX + ": " + lengthMin);
        }
    }

    /** Any key. */
    public static KeyFormat any() {
        return new KeyFormat("any", 1);
    }

    /** A UUID of any version, in either case: 8-4-4-4-12 hexadecimal digits. */
    public static KeyFormat uuid() {
        return new KeyFormat(UUID_NAME, UUID_LENGTH);
    }

    /** At least this number of characters. */
    public static KeyFormat lengthMin(int characters) {
        return new KeyFormat("length", characters);
    }

    /** Throws {@link MalformedKey} unless the key has this format. */
    void check(String key) {
        if (name.equals(UUID_NAME) && !UUID.matcher(key).matches()) {
            throw new MalformedKey(MalformedKey.Reason.BAD_FORMAT, "the key must be a UUID");
        }
        if (key.length() < lengthMin) {
            throw new MalformedKey(
                    MalformedKey.Reason.BAD_FORMAT, "the key must have at least " + lengthMin + " characters");
        }
    }
}
