package dev.onlyonce;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.EntryId;

/**
 * Whose operation is to take effect once, and the client's name for it.
 *
 * @param tenant who the key belongs to; from authentication, never from the request's body; 1-255 characters
 * @param operation the named state-changing action, e.g. {@code POST /payments}; 1-255 characters
 * @param value the client's opaque string; 1-255 visible ASCII characters
 * @param scope the namespace in which {@code value} is unique
 */
public record Key(String tenant, String operation, String value, Scope scope) {

    /**
     * Checks all parts.
     *
     * @throws MalformedKey if {@code value} breaks the rules for keys
     * @throws IllegalArgumentException if tenant or operation do: those come from the application, not from the client
     */
    public Key {
        KeyRules.checkName("tenant", tenant);
        KeyRules.checkName("operation", operation);
        KeyRules.checkKey(value);
        requireNonNull(scope, "scope");
    }

    /** A key that is unique within its tenant. Throws as the constructor does. */
    public static Key of(String tenant, String operation, String value) {
        return new Key(tenant, operation, value, Scope.TENANT);
    }

    /** The same key in another scope. */
    public Key in(Scope scope) {
        return new Key(tenant, operation, value, scope);
    }

    /** Which entry answers for this key. */
    public EntryId entryId() {
        return new EntryId(tenant, scope == Scope.TENANT ? "" : operation, value);
    }

    /** For logs: the key is shortened. */
    @Override
    public String toString() {
        return tenant + " " + operation + " " + EntryId.shorten(value);
    }
}
