package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.TestDatabase;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;

@Order(1)
@DisplayName("The outbox on MariaDB")
final class MariaDbOutboxTest extends OutboxContract implements OutboxLastingLocksChapter, OutboxLocksChapter {
    MariaDbOutboxTest() {
        super(TestDatabase.MARIADB);
    }
}
