package dev.onlyonce.client.journal;

import static dev.onlyonce.client.journal.JournalContract.CREATED;
import static dev.onlyonce.client.journal.JournalContract.NOW;
import static dev.onlyonce.client.journal.JournalContract.call;

import dev.onlyonce.client.JournalException;
import java.nio.file.Path;

/** A process that writes to a journal until it is killed, or cannot. It says what is durable. */
final class JournalProcess {
    private JournalProcess() {}

    /** File, name, number of calls. */
    public static void main(String[] arguments) {
        int calls = Integer.parseInt(arguments[2]);
        try (FileJournal journal = FileJournal.open(Path.of(arguments[0]))) {
            for (int i = 0; i < calls; i++) {
                String id = arguments[1] + "-" + i;
                journal.begin(call(id, "key-" + id, NOW));
                System.out.println(id);
                if (i % 3 == 0) {
                    journal.settle(id, CREATED, NOW);
                }
            }
        } catch (JournalException e) {
            System.out.println("failed: " + e.getMessage());
        }
    }
}
