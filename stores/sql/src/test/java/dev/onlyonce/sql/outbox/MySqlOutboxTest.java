package dev.onlyonce.sql.outbox;

import dev.onlyonce.sql.TestDatabase;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

@Order(1)
@DisplayName("The outbox on MySQL")
final class MySqlOutboxTest extends OutboxContract implements OutboxLastingLocksChapter, OutboxLocksChapter {
    MySqlOutboxTest() {
        super(TestDatabase.MYSQL);
    }

    @Test
    @Override
    @DisplayName("D11 each locked business row holds up a free one for a second, the shortest wait that MySQL has")
    public void manyLockedBusinessRows() throws Exception {
        deliverAround(6, Duration.ofSeconds(15));
    }

    @Test
    @Override
    @DisplayName(
            "D11 each message with a locked entry keeps a closing worker for two of the shortest waits that MySQL has")
    public void lockedWhileClosing() throws Exception {
        closeAround(6, Duration.ofSeconds(15));
    }
}
