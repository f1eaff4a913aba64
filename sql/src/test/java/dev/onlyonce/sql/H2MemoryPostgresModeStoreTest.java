package dev.onlyonce.sql;

import org.junit.jupiter.api.DisplayName;

@DisplayName("H2 in memory, in PostgreSQL mode")
final class H2MemoryPostgresModeStoreTest extends H2StoreContract {
    H2MemoryPostgresModeStoreTest() {
        super(false, POSTGRESQL);
    }
}
