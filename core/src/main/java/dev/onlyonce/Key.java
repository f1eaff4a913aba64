package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.EntryId;

/**
 * Identifies an operation that must take effect once: whose it is, and the client's string for it.
 *
 * @param tenant who the key belongs to; from authentication, never from the request's body; 1-255 characters
 * @param operation the named state-changing action, e.g. {@code POST /payments}; 1-255 characters
 * @param value the client's opaque string; 1-255 visible ASCII characters
 * @param scope the namespace in which {@code value} is unique
 */
public record Key(String tenant, String operation, String value, Scope scope) {
    /** The longest value: as in the IETF draft and Stripe. It also keeps the primary key within MySQL's 3072 bytes. */
    public static final int VALUE_LENGTH_MAX = 255;
    /** The longest tenant or operation. Keeps the primary key within MySQL's 3072 bytes: at most 1020 bytes of UTF-8. */
    public static final int NAME_LENGTH_MAX = 255;

    /**
     * Checks all parts.
     *
     * @throws MalformedKey if {@code value} breaks the rules for keys
     * @throws IllegalArgumentException if tenant or operation do: those come from the application, not from the client
     */
    public Key {
        checkName("tenant", tenant);
        checkName("operation", operation);
        checkValue(value);
        requireNonNull(scope, "scope");
    }

    /** A key that is unique within its tenant. Throws as the constructor does. */
    public static Key of(String tenant, String operation, String value) {
        return new Key(tenant, operation, value, Scope.TENANT);
    }

    /** The key of an entry. */
    public static Key of(EntryId id, String operation) {
        return new Key(id.tenant(), operation, id.key(), id.scope().isEmpty() ? Scope.TENANT : Scope.OPERATION);
    }

    /** The same key in another scope. */
    public Key in(Scope scope) {
        return new Key(tenant, operation, value, scope);
    }

    /** Which entry answers for this key. */
    public EntryId entryId() {
        return new EntryId(tenant, scope == Scope.TENANT ? "" : operation, value);
    }

    /** Throws {@link MalformedKey} unless this is 1-255 visible ASCII characters. */
    public static void checkValue(String value) {
        if (value.isEmpty()) {
            throw new MalformedKey(MalformedKey.Reason.EMPTY, "the key is empty");
        }
        if (value.length() > VALUE_LENGTH_MAX) {
            throw new MalformedKey(
                    MalformedKey.Reason.TOO_LONG,
                    "the key has " + value.length() + " characters; at most " + VALUE_LENGTH_MAX + " are allowed");
        }
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
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
        for (int i = 0; i < name.length(); i = name.offsetByCodePoints(i, 1)) {
            int point = name.codePointAt(i);
            // Half a pair is a code point of its own.
            if (Character.isISOControl(point) || Character.getType(point) == Character.SURROGATE) {
                throw new IllegalArgumentException(
                        what + " has a control character or half a surrogate pair at position " + (i + 1));
            }
        }
    }

    /** For logs: the key is shortened. */
    @Override
    public String toString() {
        return tenant + " " + operation + " " + EntryId.shorten(value);
    }
}
