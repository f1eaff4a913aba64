package dev.onlyonce.sql;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("H2 in a file")
final class H2FileStoreTest extends H2StoreContract {
    private static H2 database;

    @BeforeAll
    static void connect(@TempDir Path folder) {
        database = H2.open("file:" + folder.resolve("entries") + REGULAR);
    }

    @AfterAll
    static void disconnect() {
        database.close();
    }

    H2FileStoreTest() {
        super(database);
    }
}
