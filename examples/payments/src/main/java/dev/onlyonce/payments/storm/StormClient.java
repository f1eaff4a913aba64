package dev.onlyonce.payments.storm;

import dev.onlyonce.client.CallRequest;
import dev.onlyonce.client.CallResponse;
import dev.onlyonce.client.CallResult;
import dev.onlyonce.client.RetryPolicy;
import dev.onlyonce.client.RetryingClient;
import dev.onlyonce.client.Transport;
import dev.onlyonce.client.journal.SqliteJournal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The retrying client with a journal of its own, which sends each attempt to one of several servers and counts. */
final class StormClient implements AutoCloseable {
    private static final Duration CONNECT_MAX = Duration.ofSeconds(10);
    private static final Duration ATTEMPT_MAX = Duration.ofSeconds(30);
    private static final int ATTEMPTS_MAX = 1000;

    private final Path folder;
    private final RetryingClient client;
    private final Transport wire;

    /**
     * Opens it.
     *
     * @param apis chooses the server of an attempt
     * @param deadline of a call
     */
    StormClient(Supplier<URI> apis, Tally tally, Duration deadline) {
        RetryPolicy policy = RetryPolicy.builder()
                .deadline(deadline)
                .attemptTimeout(ATTEMPT_MAX)
                .attemptsMax(ATTEMPTS_MAX)
                .firstPause(Duration.ofMillis(50))
                .longestPause(Duration.ofSeconds(1))
                .retryShare(1)
                .build();
        try {
            folder = Files.createTempDirectory("storm");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // The copies of a payment are calls of their own with one key: the id up to the copy's name.
        client = RetryingClient.builder(SqliteJournal.open(folder.resolve("journal")))
                .policy(policy)
                .keys(id -> id.substring(0, id.lastIndexOf('/')))
                .build();
        HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT_MAX)
                .build();
        wire = counted(Transport.of(http), apis, tally);
    }

    private static Transport counted(Transport http, Supplier<URI> apis, Tally tally) {
        return (request, timeout) -> {
            tally.sent();
            try {
                CallResponse response = http.exchange(
                        request.to(apis.get().resolve(request.uri().getRawPath())), timeout);
                tally.answered(response.status());
                return response;
            } catch (IOException e) {
                tally.lost();
                throw e;
            }
        };
    }

    CompletableFuture<CallResult> send(String id, CallRequest request) {
        return client.sendAsync(id, request, wire);
    }

    /** Stops, and deletes the journal. */
    @Override
    public void close() {
        client.close();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
