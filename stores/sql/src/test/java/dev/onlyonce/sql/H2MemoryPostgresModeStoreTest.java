package dev.onlyonce.sql;

import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("thorough")
@DisplayName("H2 in memory, in PostgreSQL mode")
final class H2MemoryPostgresModeStoreTest extends H2StoreContract {
    private static H2 database;

    @BeforeAll
    static void connect() {
        database = H2.open("mem:" + UUID.randomUUID() + POSTGRESQL);
    }

    @AfterAll
    static void disconnect() {
        database.close();
    }

    H2MemoryPostgresModeStoreTest() {
        super(database);
    }
}
