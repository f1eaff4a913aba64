package dev.onlyonce.sql;

import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("H2 in memory")
final class H2MemoryStoreTest extends H2StoreContract {
    @BeforeAll
    static void connect() {
        connect("mem:" + UUID.randomUUID() + REGULAR);
    }
}
