package dev.onlyonce.store;

import org.jspecify.annotations.Nullable;

/**
 * How to open a store by its URL.
 *
 * @param url where it is; settings that only this kind of store has follow its question mark
 * @param user the user, unless the URL has it
 * @param password the password, unless the URL has it
 * @param encryption what results are sealed with; none for not at all
 * @param create whether tables that it needs are created and upgraded, or only checked
 * @param audit what the audit keeps; {@link AuditLevel#EXCEPTIONS} counts if either this or the URL says so
 */
public record StoreOptions(
        String url,
        @Nullable String user,
        @Nullable String password,
        @Nullable Encryption encryption,
        boolean create,
        AuditLevel audit) {
    /** With {@link AuditLevel#ALL}, unless the URL says otherwise. */
    public StoreOptions(
            String url,
            @Nullable String user,
            @Nullable String password,
            @Nullable Encryption encryption,
            boolean create) {
        this(url, user, password, encryption, create, AuditLevel.ALL);
    }

    /** Without the password. */
    @Override
    public String toString() {
        return url.replaceAll("(?<=://)[^/]*(?=@)", "***").replaceAll("(?i)(password=)[^&;]*", "$1***");
    }
}
