package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;

@DisplayName("The outbox on MariaDB")
final class MariaDbOutboxTest extends OutboxContract implements OutboxLastingLocksChapter, OutboxLocksChapter {
    MariaDbOutboxTest() {
        super(TestDatabase.MARIADB);
    }
}
