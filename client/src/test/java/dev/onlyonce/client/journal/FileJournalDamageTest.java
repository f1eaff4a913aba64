package dev.onlyonce.client.journal;

import static dev.onlyonce.client.journal.JournalContract.CREATED;
import static dev.onlyonce.client.journal.JournalContract.NOW;
import static dev.onlyonce.client.journal.JournalContract.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.CallBody;
import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.JournaledCall;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The file of a journal")
class FileJournalDamageTest {
    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("journal");
    }

    /** Writes this to the file and opens it. */
    private FileJournal opened(byte[] bytes) throws IOException {
        Files.deleteIfExists(file());
        Files.createFile(file(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(file(), bytes);
        return FileJournal.open(file());
    }

    @Test
    @DisplayName("X2 cut off at any byte has everything that was written before, and takes more")
    void torn() throws IOException {
        List<Long> ends = new ArrayList<>();
        try (FileJournal journal = FileJournal.open(file())) {
            ends.add(Files.size(file()));
            for (int i = 0; i < 2; i++) {
                journal.begin(call("call-" + i, "key-" + i, NOW));
                ends.add(Files.size(file()));
            }
        }
        byte[] whole = Files.readAllBytes(file());
        for (int length = Math.toIntExact(ends.get(0));
                length <= whole.length;
                length += length < ends.get(1) ? 16 : 1) {
            int end = length;
            int written =
                    (int) ends.stream().skip(1).filter(each -> each <= end).count();
            try (FileJournal journal = opened(Arrays.copyOf(whole, length))) {
                assertThat(journal.pending()).as("%d bytes", length).hasSize(written);
                assertThat(journal.begin(call("more", "key", NOW))).isEmpty();
                assertThat(journal.pending()).hasSize(written + 1);
            }
        }
    }

    @Test
    @DisplayName("X2 that ends in zeros or garbage after a power cut has everything that was written before")
    void garbageTail() throws IOException {
        try (FileJournal journal = FileJournal.open(file())) {
            journal.begin(call("a", "key", NOW));
        }
        byte[] whole = Files.readAllBytes(file());
        byte[] zeros = Arrays.copyOf(whole, whole.length + 5000);
        byte[] garbage = zeros.clone();
        byte[] random = new byte[5000];
        new Random(7).nextBytes(random);
        System.arraycopy(random, 0, garbage, whole.length, random.length);
        for (byte[] bytes : List.of(zeros, garbage)) {
            try (FileJournal journal = opened(bytes)) {
                assertThat(journal.pending()).containsExactly("a");
            }
            assertThat(Files.size(file())).isEqualTo(whole.length);
        }
    }

    @Test
    @DisplayName("damaged in the middle is refused and left as it is")
    void damaged() throws IOException {
        try (FileJournal journal = FileJournal.open(file())) {
            journal.begin(call("a", "key", NOW));
            journal.begin(call("b", "key", NOW));
        }
        byte[] whole = Files.readAllBytes(file());
        whole[60] ^= 1;
        assertThatThrownBy(() -> opened(whole))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("damaged at byte 24");
        assertThat(Files.readAllBytes(file())).isEqualTo(whole);
    }

    @Test
    @DisplayName("that is no journal is refused and left as it is")
    void garbage() throws IOException {
        for (String text : List.of("", "hi", "ONCEJRN", "{\"this\": \"is my only copy of something else\"}")) {
            assertThatThrownBy(() -> opened(text.getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                    .isInstanceOf(JournalException.class)
                    .hasMessageContaining("is not a journal");
            assertThat(file()).hasContent(text);
        }
    }

    @Test
    @DisplayName("sent as a body is not taken for records")
    void journalInBody() throws IOException {
        try (FileJournal journal = FileJournal.open(file())) {
            journal.begin(call("inner", "key", NOW));
        }
        byte[] inner = Files.readAllBytes(file());
        Files.delete(file());
        try (FileJournal journal = FileJournal.open(file())) {
            CallRequest request =
                    new CallRequest("POST", URI.create("http://localhost/backup"), Map.of(), CallBody.of(inner));
            journal.begin(new JournaledCall("outer", "key", request, new JournaledCall.Progress(NOW, NOW, null)));
        }
        byte[] whole = Files.readAllBytes(file());
        try (FileJournal journal = opened(Arrays.copyOf(whole, whole.length - 1))) {
            assertThat(journal.pending()).isEmpty();
        }
    }

    @Test
    @DisplayName("can be read by its owner alone, and one that others can read is refused")
    void ownerOnly() throws IOException {
        FileJournal.open(file()).close();
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.toList())
                    .hasSize(2)
                    .allSatisfy(file -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                            .isEqualTo("rw-------"));
        }
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> FileJournal.open(file()))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("chmod 600");
    }

    @Test
    @DisplayName("that cannot be made says so")
    void unwritable() {
        assertThatThrownBy(() -> FileJournal.open(Path.of("/proc/no/journal")))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("cannot be written");
        assertThatThrownBy(() -> FileJournal.open(folder)).isInstanceOf(JournalException.class);
    }

    @Test
    @DisplayName("is replaced by a smaller one when most of it is of no use, and half a replacement does no harm")
    void compaction() throws IOException {
        Files.writeString(folder.resolve("journal.new"), "half a replacement");
        try (FileJournal journal = FileJournal.open(file());
                FileJournal other = FileJournal.open(file())) {
            journal.begin(call("open", "key-of-open", NOW));
            byte[] body = new byte[100_000];
            CallRequest large = new CallRequest("POST", URI.create("http://localhost/x"), Map.of(), CallBody.of(body));
            long largest = 0;
            for (int i = 0; i < 40; i++) {
                FileJournal one = i % 2 == 0 ? journal : other;
                one.begin(new JournaledCall("call-" + i, "key", large, new JournaledCall.Progress(NOW, NOW, null)));
                one.settle("call-" + i, CREATED, NOW);
                one.forget("call-" + i);
                largest = Math.max(largest, Files.size(file()));
            }
            assertThat(largest).as("of 4 MB in all").isBetween(900_000L, 1_200_000L);
            for (FileJournal one : List.of(journal, other)) {
                assertThat(one.find("open").orElseThrow().key()).isEqualTo("key-of-open");
                assertThat(one.pending()).containsExactly("open");
            }
        }
    }

    @Test
    @DisplayName("stays usable when a thread is interrupted while it writes")
    void interrupted() {
        try (FileJournal journal = FileJournal.open(file())) {
            for (int i = 0; i < 20; i++) {
                Thread.currentThread().interrupt();
                assertThat(journal.begin(call("call-" + i, "key", NOW))).isEmpty();
                assertThat(Thread.interrupted()).isTrue();
            }
            assertThat(journal.pending()).hasSize(20);
        }
    }
}
