package dev.onlyonce.redis;

import dev.onlyonce.store.CacheOptions;

/** What the tests of the shared cache have in common. */
final class CachedStores {
    static final String SECRET = "a secret that only the nodes of this test know";

    private CachedStores() {}

    static CacheOptions options(String url) {
        return new CacheOptions(url, "test", null, SECRET);
    }
}
