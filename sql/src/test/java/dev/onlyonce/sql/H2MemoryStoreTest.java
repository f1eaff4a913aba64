package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("H2 in memory")
final class H2MemoryStoreTest extends H2StoreContract {
    H2MemoryStoreTest() {
        super(false, REGULAR);
    }
}
