package dev.onlyonce.sql;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;

@DisplayName("H2 in a file")
final class H2FileStoreTest extends H2StoreContract {
    @BeforeAll
    static void connect() {
        connect("file:" + folder.resolve("entries") + REGULAR);
    }
}
