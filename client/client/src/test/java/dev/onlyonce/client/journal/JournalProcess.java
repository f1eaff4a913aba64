package dev.onlyonce.client.journal;

import static dev.onlyonce.client.journal.JournalContract.CREATED;
import static dev.onlyonce.client.journal.JournalContract.NOW;
import static dev.onlyonce.client.journal.JournalContract.call;

import dev.onlyonce.client.ClientTime;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.Journal.Verdict;
import dev.onlyonce.client.JournalException;
import java.nio.file.Path;
import java.time.Duration;

/** A process that writes to a journal until it is killed, or cannot. It says what is durable. */
final class JournalProcess {
    private JournalProcess() {}

    /** File, name, number of calls. */
    public static void main(String[] arguments) {
        int calls = Integer.parseInt(arguments[2]);
        // The calls are of another time.
        Duration keep = Duration.ofDays(3650);
        try (Journal journal = SqliteJournal.open(Path.of(arguments[0]), keep, ClientTime.system())) {
            for (int i = 0; i < calls; i++) {
                String id = arguments[1] + "-" + i;
                journal.begin(call(id, "key-" + id, NOW));
                System.out.println(id);
                if (i % 3 == 0) {
                    journal.settle(id, CREATED, Verdict.DONE, NOW);
                }
            }
        } catch (JournalException e) {
            System.out.println("failed: " + e.getMessage());
        }
    }
}
