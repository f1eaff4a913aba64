package dev.onlyonce.sql;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

@Tag("thorough")
@DisplayName("H2 in a file, in PostgreSQL mode")
final class H2FilePostgresModeStoreTest extends H2StoreContract {
    private static H2 database;

    @BeforeAll
    static void connect(@TempDir Path folder) {
        database = H2.open("file:" + folder.resolve("entries") + POSTGRESQL);
    }

    @AfterAll
    static void disconnect() {
        database.close();
    }

    H2FilePostgresModeStoreTest() {
        super(database);
    }
}
