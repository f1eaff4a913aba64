package dev.onlyonce.server.config;

import dev.onlyonce.sql.SchemaMode;
import dev.onlyonce.store.AuditLevel;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.StoreOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where entries are kept.
 *
 * @param url a JDBC URL of SQLite, PostgreSQL, MySQL or MariaDB, or one that a {@link dev.onlyonce.store.StoreProvider} accepts; none for SQLite in the data directory
 * @param user the database user, unless the URL has it
 * @param password the password, unless the URL has it
 * @param schema whether tables are created, only checked, or left alone at start-up
 * @param encryption what stored responses are sealed with; none for not at all
 * @param audit what the audit keeps of entries that were executed without trouble, once they are gone
 * @param auditRetention how long audit records are kept
 */
public record StoreSettings(
        @Nullable String url,
        @Nullable String user,
        @Nullable String password,
        SchemaMode schema,
        @Nullable Encryption encryption,
        AuditLevel audit,
        Duration auditRetention) {
    /** Covers a year's books and the weeks in which they are closed. */
    public static final Duration AUDIT_RETENTION = Duration.ofDays(400);

    /** SQLite in the data directory. */
    public static StoreSettings standard() {
        return new StoreSettings(null, null, null, SchemaMode.CREATE, null, AuditLevel.ALL, AUDIT_RETENTION);
    }

    /** Without the password. */
    @Override
    public String toString() {
        return url == null ? "SQLite" : StoreOptions.shown(url);
    }
}
