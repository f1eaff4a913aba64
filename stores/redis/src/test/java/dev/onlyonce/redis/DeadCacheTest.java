package dev.onlyonce.redis;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("thorough")
@DisplayName("A store behind a shared cache that is not there")
final class DeadCacheTest extends CachedContract {
    @Override
    String url() {
        return "redis://127.0.0.1:1";
    }

    @Override
    void interfere() {}
}
