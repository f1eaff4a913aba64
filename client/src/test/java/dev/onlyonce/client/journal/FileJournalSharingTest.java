package dev.onlyonce.client.journal;

import static dev.onlyonce.client.journal.JournalContract.call;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A journal in a file")
class FileJournalSharingTest {
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    @TempDir
    private Path folder;

    @Test
    @DisplayName("X4 that is opened by a symbolic link stays where the link leads")
    void link() throws Exception {
        Path volume = Files.createDirectory(folder.resolve("volume"));
        Path link = Files.createSymbolicLink(folder.resolve("journal"), Path.of("volume", "kept"));
        try (FileJournal byLink = FileJournal.open(link);
                FileJournal byName = FileJournal.open(volume.resolve("kept"))) {
            assertThat(byLink.begin(call("order-1", "key-1", NOW))).isEmpty();
            byte[] body = new byte[16_000];
            for (int i = 0; i < 80; i++) {
                byLink.begin(call("call-" + i, "x".repeat(200), NOW));
                byLink.settle(
                        "call-" + i, new dev.onlyonce.client.CallResponse(200, java.util.Map.of(), body, true), NOW);
                byLink.forget("call-" + i);
            }
            assertThat(Files.isSymbolicLink(link)).as("after compaction").isTrue();
            assertThat(byName.begin(call("order-1", "key-2", NOW)).orElseThrow().key())
                    .isEqualTo("key-1");
        }
    }

    @Test
    @DisplayName("X4 keeps every answer for as long as it says, however many there are")
    void manyAnswers() {
        JournalIndex index = new JournalIndex();
        for (int i = 0; i < 150_000; i++) {
            byte[] records = JournalIndex.record(JournalIndex.BEGUN, "order-" + i, NOW, new byte[0]);
            index.apply(0, records);
            index.apply(0, JournalIndex.record(JournalIndex.SETTLED, "order-" + i, NOW, new byte[0]));
        }
        assertThat(index.kept(NOW.plus(Duration.ofDays(29)), Duration.ofDays(30)))
                .hasSize(150_000);
        assertThat(index.kept(NOW.plus(Duration.ofDays(31)), Duration.ofDays(30)))
                .isEmpty();
    }

    @Test
    @DisplayName("is not closed while another journal of this process holds the lock, which closing would drop")
    void closing() throws Exception {
        Path file = folder.resolve("journal");
        List<String> order = new CopyOnWriteArrayList<>();
        JournalFiles writing = new JournalFiles(file);
        JournalFiles closing = new JournalFiles(file);
        closing.hold().release();
        JournalFiles.Held held = writing.hold();
        Thread closer = new Thread(() -> {
            try {
                closing.close();
                order.add("closed");
            } catch (java.io.IOException e) {
                order.add(String.valueOf(e));
            }
        });
        closer.start();
        while (closer.getState() != Thread.State.TIMED_WAITING && closer.getState() != Thread.State.TERMINATED) {
            Thread.onSpinWait();
        }
        order.add("released");
        held.release();
        closer.join();
        writing.close();
        assertThat(order).containsExactly("released", "closed");
        assertThat(Files.readString(folder.resolve("journal.lock"), StandardCharsets.US_ASCII))
                .isEmpty();
    }
}
