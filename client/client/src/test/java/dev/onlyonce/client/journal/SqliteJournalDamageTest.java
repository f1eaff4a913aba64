package dev.onlyonce.client.journal;

import static dev.onlyonce.client.journal.JournalContract.NOW;
import static dev.onlyonce.client.journal.JournalContract.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.Journal;
import dev.onlyonce.client.JournalException;
import dev.onlyonce.client.JournaledCall;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The file of a journal")
class SqliteJournalDamageTest {
    private static final int HEAD_BYTES = 100;

    @TempDir
    private Path folder;

    private Path file() {
        return folder.resolve("journal");
    }

    private byte[] twoCalls() throws IOException {
        try (Journal journal = SqliteJournal.open(file())) {
            journal.begin(call("a", "key-of-a", NOW));
            journal.begin(call("b", "key-of-b", NOW));
        }
        return Files.readAllBytes(file());
    }

    /** Writes this to the file and opens it. */
    private Journal opened(byte[] bytes) throws IOException {
        for (String suffix : List.of("", "-wal", "-shm")) {
            Files.deleteIfExists(folder.resolve("journal" + suffix));
        }
        Files.createFile(file(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.write(file(), bytes);
        return SqliteJournal.open(file());
    }

    /** Opens it and looks for both calls; whatever is told must be true. */
    private boolean isRefused(byte[] bytes) throws IOException {
        try (Journal journal = opened(bytes)) {
            for (String id : List.of("a", "b")) {
                JournaledCall found = journal.begin(call(id, "another", NOW)).orElse(null);
                assertThat(found).as(id).isNotNull();
                assertThat(found.key()).isEqualTo("key-of-" + id);
                assertThat(found.request().isSameAs(call(id, "x", NOW).request()))
                        .isTrue();
            }
            assertThat(journal.pending()).hasSize(2);
            return false;
        } catch (JournalException e) {
            return true;
        }
    }

    @Test
    @DisplayName("X4 with one flipped bit in its head is refused, or has all calls; never empty")
    void head() throws IOException {
        byte[] whole = twoCalls();
        int refused = 0;
        for (int at = 0; at < HEAD_BYTES; at++) {
            for (int bit : new int[] {0, 1, 7}) {
                byte[] flipped = whole.clone();
                flipped[at] ^= (byte) (1 << bit);
                refused += isRefused(flipped) ? 1 : 0;
            }
        }
        assertThat(refused).isGreaterThan(80);
    }

    @Test
    @DisplayName("X4 with a flipped bit anywhere else is refused, or has all calls with their keys and bytes")
    void body() throws IOException {
        byte[] whole = twoCalls();
        int refused = 0;
        for (int at = HEAD_BYTES; at < whole.length; at++) {
            // Zeros are free space, as good as all.
            if (whole[at] != 0 && at % 4 == 0) {
                byte[] flipped = whole.clone();
                flipped[at] ^= (byte) (1 << (at % 8));
                refused += isRefused(flipped) ? 1 : 0;
            }
        }
        assertThat(refused).isGreaterThan(100);
    }

    @Test
    @DisplayName("X4 that is cut off is refused")
    void cutOff() throws IOException {
        byte[] whole = twoCalls();
        for (int length = 0; length < whole.length; length += 512) {
            byte[] torn = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> opened(torn).close())
                    .as("%d bytes", length)
                    .isInstanceOf(JournalException.class);
        }
    }

    @Test
    @DisplayName("that is no journal is refused and left as it is")
    void garbage() throws Exception {
        for (String text : List.of("", "hi", "{\"this\": \"is my only copy of something else\"}", "x".repeat(9000))) {
            assertThatThrownBy(() -> opened(text.getBytes(StandardCharsets.UTF_8)))
                    .isInstanceOf(JournalException.class)
                    .hasMessageContaining("is not a journal");
            assertThat(file()).hasContent(text);
        }
        Files.delete(file());
        try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE something_else (id INT)");
        }
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-------"));
        byte[] database = Files.readAllBytes(file());
        assertThatThrownBy(() -> SqliteJournal.open(file())).hasMessageContaining("is not a journal");
        assertThat(Files.readAllBytes(file())).isEqualTo(database);
    }

    @Test
    @DisplayName("X4 that is gone, but whose log is there, is not taken for a new one")
    void logAlone() throws IOException {
        byte[] whole = twoCalls();
        assertThat(whole).isNotEmpty();
        Files.move(file(), folder.resolve("journal-wal"));
        assertThatThrownBy(() -> SqliteJournal.open(file()))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("is gone, but its log");
    }

    @Test
    @DisplayName("X1 that is removed or replaced by another while it is open is written no more, and says so")
    void replaced() throws IOException {
        try (Journal journal = SqliteJournal.open(file())) {
            journal.begin(call("a", "key", NOW));
            Path aside = folder.resolve("aside");
            Files.move(file(), aside);
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> journal.begin(call("b", "key", NOW)))
                        .isInstanceOf(JournalException.class)
                        .hasMessageContaining("removed or replaced")
                        .hasMessageContaining("nothing was sent");
                assertThatThrownBy(journal::pending).isInstanceOf(JournalException.class);
                SqliteJournal.open(folder.resolve("new")).close();
                Files.move(folder.resolve("new"), file(), StandardCopyOption.REPLACE_EXISTING);
            }
            Files.move(aside, file(), StandardCopyOption.REPLACE_EXISTING);
            assertThat(journal.begin(call("b", "key", NOW))).isEmpty();
            assertThat(journal.pending()).containsExactlyInAnyOrder("a", "b");
        }
    }

    @Test
    @DisplayName("can be read by its owner alone, and one that others can read is refused")
    void ownerOnly() throws IOException {
        try (Journal journal = SqliteJournal.open(file())) {
            journal.begin(call("a", "key", NOW));
            try (Stream<Path> files = Files.list(folder)) {
                assertThat(files.toList())
                        .hasSize(3)
                        .allSatisfy(
                                file -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                                        .isEqualTo("rw-------"));
            }
        }
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> SqliteJournal.open(file()))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("chmod 600");
    }

    @Test
    @DisplayName("that cannot be made says so")
    void unwritable() {
        assertThatThrownBy(() -> SqliteJournal.open(Path.of("/proc/no/journal")))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("cannot be written");
        assertThatThrownBy(() -> SqliteJournal.open(folder)).isInstanceOf(JournalException.class);
        assertThatThrownBy(() -> SqliteJournal.open(folder.resolve("a?mode=memory")))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("question mark");
    }

    @Test
    @DisplayName("X4 that is opened by a symbolic link stays where the link leads")
    void link() throws IOException {
        Path volume = Files.createDirectory(folder.resolve("volume"));
        Path link = Files.createSymbolicLink(file(), Path.of("volume", "kept"));
        try (Journal byLink = SqliteJournal.open(link);
                Journal byName = SqliteJournal.open(volume.resolve("kept"))) {
            assertThat(byLink.begin(call("order-1", "key-1", NOW))).isEmpty();
            assertThat(Files.isSymbolicLink(link)).isTrue();
            assertThat(byName.begin(call("order-1", "key-2", NOW)).orElseThrow().key())
                    .isEqualTo("key-1");
        }
    }

    @Test
    @DisplayName("stays usable when a thread is interrupted while it writes")
    void interrupted() {
        try (Journal journal = SqliteJournal.open(file())) {
            for (int i = 0; i < 20; i++) {
                Thread.currentThread().interrupt();
                assertThat(journal.begin(call("call-" + i, "key", NOW))).isEmpty();
                assertThat(Thread.interrupted()).isTrue();
            }
            assertThat(journal.pending()).hasSize(20);
        }
    }

    @Test
    @DisplayName("X1 has one damaged call, which costs the calls of other threads nothing")
    void oneDamaged() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try (Journal journal = SqliteJournal.open(file())) {
            journal.begin(call("damaged", "key", NOW));
            try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file());
                    Statement statement = connection.createStatement()) {
                statement.execute("UPDATE onlyonce_client_call SET idempotency_key = 'yek'");
            }
            List<Future<Boolean>> found = new ArrayList<>();
            for (int i = 0; i < 80; i++) {
                String id = i % 2 == 0 ? "damaged" : "call-" + i;
                found.add(
                        threads.submit(() -> journal.begin(call(id, "key", NOW)).isPresent()));
            }
            for (int i = 0; i < 80; i++) {
                Future<Boolean> one = found.get(i);
                if (i % 2 == 0) {
                    assertThatThrownBy(one::get).cause().isInstanceOf(JournalException.class);
                } else {
                    assertThat(one.get()).isFalse();
                }
            }
            assertThat(journal.pending()).hasSize(41);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    @DisplayName("needs SQLite's driver, and says so without it")
    void noDriver() throws Exception {
        List<URL> urls = new ArrayList<>();
        String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : classPath.split(java.io.File.pathSeparator)) {
            if (!entry.contains("sqlite")) {
                urls.add(Path.of(entry).toUri().toURL());
            }
        }
        try (URLClassLoader without =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            var open = without.loadClass(SqliteJournal.class.getName()).getMethod("open", Path.class);
            assertThatThrownBy(() -> open.invoke(null, file()))
                    .cause()
                    .hasMessageContaining("add org.xerial:sqlite-jdbc");
        }
    }

    @Test
    @DisplayName("keeps a request with odd headers and addresses as it is")
    void oddRequest() {
        CallRequest request = new CallRequest(
                "PATCH",
                URI.create("https://example.com/a%20b?x=%E2%82%AC&y=:%20"),
                java.util.Map.of("X-Odd", " a: b: é", "X-Empty", ""),
                dev.onlyonce.client.CallBody.none());
        try (Journal journal = SqliteJournal.open(file())) {
            journal.begin(new JournaledCall("a", "key", request, new JournaledCall.Progress(NOW, NOW)));
            CallRequest found = journal.find("a").orElseThrow().request();
            assertThat(found.headers()).isEqualTo(request.headers());
            assertThat(found.isSameAs(request)).isTrue();
        }
    }
}
