package dev.onlyonce.payments.domain;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.onlyonce.payments.db.Database;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Who an API key belongs to. Only hashes are stored; the keys are long random strings, so a plain SHA-256 is enough. Known keys
 * are remembered for a while, so that most requests cost no query and a revoked key ends soon. Thread-safe.
 */
public final class ApiKeys {
    private static final int REMEMBERED_MAX = 10_000;
    private static final Duration REMEMBERED_FOR = Duration.ofSeconds(30);

    private final Database database;
    private final Cache<String, String> tenants = Caffeine.newBuilder()
            .maximumSize(REMEMBERED_MAX)
            .expireAfterWrite(REMEMBERED_FOR)
            .build();

    /** Kept in this database. */
    public ApiKeys(Database database) {
        this.database = database;
    }

    /** Lets a key speak for a tenant; does nothing if it does already. */
    public void allow(String apiKey, String tenant) {
        database.transaction(sql ->
                sql.insertUnlessThere("INSERT INTO api_key (key_hash, tenant) VALUES (?, ?)", hash(apiKey), tenant));
    }

    /** The tenant that the key speaks for. */
    public Optional<String> tenant(String apiKey) {
        String hash = hash(apiKey);
        String remembered = tenants.getIfPresent(hash);
        if (remembered != null) {
            return Optional.of(remembered);
        }
        Optional<String> found = database.transaction(
                sql -> sql.first(row -> row.getString(1), "SELECT tenant FROM api_key WHERE key_hash = ?", hash));
        found.ifPresent(tenant -> tenants.put(hash, tenant));
        return found;
    }

    private static String hash(String apiKey) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(apiKey.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
