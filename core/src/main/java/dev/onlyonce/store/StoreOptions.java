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
        return shown(url);
    }

    /** A URL, or a setting of one, as messages may show it: without what may be a secret, also if it is where it does not belong. */
    public static String shown(String url) {
        // Up to the last @: a password that was not encoded may have any character. In settings of JDBC, behind a ? and
        // a =, a user may have an @.
        String before = url.startsWith("jdbc:") ? "(?:[^?]*|[^=]*)(?=@)" : ".*(?=@)";
        return url.replaceFirst((url.contains("//") ? "(?<=//)" : "^") + before, "***")
                .replaceAll("(?i)([a-z]*(?:password|secret|token|accesskey)[a-z]*=)[^&]*", "$1***");
    }
}
