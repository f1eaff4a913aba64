package dev.onlyonce.sql;

import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("H2 in memory, in PostgreSQL mode")
final class H2MemoryPostgresModeStoreTest extends H2StoreContract {
    @BeforeAll
    static void connect() {
        connect("mem:" + UUID.randomUUID() + POSTGRESQL);
    }
}
