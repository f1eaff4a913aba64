package dev.onlyonce.server.config;

import dev.onlyonce.store.CacheOptions;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.StoreProvider;
import java.nio.file.Files;
import org.jspecify.annotations.Nullable;

/**
 * A cache that all gateways on one store share.
 *
 * @param url where it is, with its settings behind the question mark
 * @param name names the store that is cached
 * @param secret what answers are sealed with, unless the store's encryption does
 */
public record CacheSettings(
        String url, String name, @Nullable String secret) {
    private static final String EXAMPLE = "redis://127.0.0.1:6379";

    /** What to open, with the keys of the store if it has some. */
    public CacheOptions options(@Nullable Encryption encryption) {
        return new CacheOptions(url, name, encryption, secret);
    }

    static @Nullable CacheSettings read(@Nullable Section section, StoreSettings store) {
        if (section == null) {
            return null;
        }
        String url = section.required("url", EXAMPLE);
        String name = section.required("name", "payments");
        String secret = section.fromFile("secret-file", file -> {
            OwnerOnly.check(file);
            return Files.readString(file).strip();
        });
        section.end();
        if (store.url() == null || store.url().startsWith("jdbc:sqlite:")) {
            section.wrong(
                    "SQLite belongs to one gateway, which has a cache of its own: a shared cache needs a database server");
        } else if (StoreProvider.of(url).isEmpty()) {
            section.wrong("url", "this is not the URL of a cache; write for example " + EXAMPLE);
        } else if (store.encryption() == null && secret == null) {
            section.wrong(
                    "secret-file",
                    "a shared cache needs a secret, the same for all gateways, because whoever can write to Redis could make up"
                            + " answers without it; make one with: (umask 077; openssl rand -base64 32 > FILE), or configure"
                            + " store.encryption");
        }
        return new CacheSettings(url, name, secret);
    }
}
