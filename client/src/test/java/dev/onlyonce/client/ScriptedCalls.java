package dev.onlyonce.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.client.ScriptedServer.Received;
import dev.onlyonce.client.journal.FileJournal;
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
        return RetryingClient.builder(FileJournal.open(journal(), Duration.ofDays(30), clock))
                .time(clock);
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
