package dev.onlyonce.sql;

import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@Tag("thorough")
@DisplayName("H2 in memory")
final class H2MemoryStoreTest extends H2StoreContract {
    private static H2 database;

    @BeforeAll
    static void connect() {
        database = H2.open("mem:" + UUID.randomUUID() + REGULAR);
    }

    @AfterAll
    static void disconnect() {
        database.close();
    }

    H2MemoryStoreTest() {
        super(database);
    }
}
