package dev.onlyonce.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.ScriptedServer.Received;
import dev.onlyonce.client.journal.SqliteJournal;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** Clients with one journal, a server that follows a script, and time that passes only in pauses. */
abstract class ScriptedCalls {
    static final String ID = "order-42/pay";

    @TempDir
    Path folder;

    final ManualClientTime time = new ManualClientTime();
    final ScriptedServer server = new ScriptedServer();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    final void stop() throws Exception {
        server.close();
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    final Path journal() {
        return folder.resolve("journal");
    }

    final RetryingClient.Builder builder(ClientTime clock) {
        return RetryingClient.builder(openJournal(clock)).time(clock);
    }

    final Journal openJournal(ClientTime clock) {
        return SqliteJournal.open(journal(), Duration.ofDays(30), clock);
    }

    final RetryingClient.Builder builder() {
        return builder(time);
    }

    final RetryingClient client(RetryingClient.Builder builder) {
        RetryingClient client = builder.build();
        opened.add(client);
        return client;
    }

    final RetryingClient client() {
        return client(builder());
    }

    /** All that the journal has on disk, its log too. */
    final String journalText() throws IOException {
        StringBuilder text = new StringBuilder();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "journal*")) {
            for (Path file : files) {
                text.append(Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        return text.toString();
    }

    final CallRequest request() {
        return CallRequest.post(server.url("/pay"), "{\"cents\":990}");
    }

    final List<String> keys() {
        return server.received().stream().map(Received::key).distinct().toList();
    }

    final void assertOneKey(int requests) {
        assertThat(server.received()).hasSize(requests);
        assertThat(keys()).hasSize(1);
    }
}
