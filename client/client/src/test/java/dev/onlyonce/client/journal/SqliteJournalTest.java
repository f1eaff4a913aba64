package dev.onlyonce.client.journal;

import dev.onlyonce.client.Journal;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;

@DisplayName("A journal in a SQLite file")
class SqliteJournalTest extends JournalContract {
    @Override
    Journal open() {
        return SqliteJournal.open(folder.resolve("journal"), Duration.ofDays(30), time);
    }
}
