package dev.onlyonce.store;

import org.jspecify.annotations.Nullable;

/**
 * How to put a shared cache in front of a store.
 *
 * @param url where the cache is; its settings follow the question mark
 * @param name names the store that is cached. All nodes on one store use the same name, and two stores never share one
 * @param encryption what answers are sealed with there; without it the secret is needed
 * @param secret at least 32 characters that all nodes share; answers are sealed with a key made from it
 */
public record CacheOptions(
        String url,
        String name,
        @Nullable Encryption encryption,
        @Nullable String secret) {
    /** Without the secret, and without the password in the URL. */
    @Override
    public String toString() {
        return name + " at " + new StoreOptions(url, null, null, null, false);
    }
}
