package dev.onlyonce.client;

import static dev.onlyonce.client.ScriptedServer.problem;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onlyonce.client.CallResult.Done;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A call that is stopped")
class StoppedCallTest extends ScriptedCalls {
    @Test
    @DisplayName("An interrupt ends the call, which stays open and is resumed with its key")
    void interrupt() throws Exception {
        server.then(problem(409, "in_progress", "Retry-After", "1"));
        RetryingClient client = client(builder().listener(new CallListener() {
            @Override
            public void waiting(String id, Duration pause) {
                Thread.currentThread().interrupt();
            }
        }));
        assertThatThrownBy(() -> client.send(ID, request())).isInstanceOf(InterruptedException.class);
        assertThat(client.pending()).hasSize(1);
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).hasSize(1);
    }

    @Test
    @DisplayName("A cancelled call stops, stays open and is resumed with its key")
    void cancel() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        server.then(out -> {
            arrived.countDown();
            gone.await();
        });
        RetryingClient client = client();
        CompletableFuture<CallResult> call = client.sendAsync(ID, request());
        arrived.await();
        call.cancel(true);
        awaitIdle();
        gone.countDown();
        assertThat(server.received()).hasSize(1);
        assertThat(client.pending()).hasSize(1);
        assertThat(client.resume(ID)).isInstanceOf(Done.class);
        assertThat(keys()).hasSize(1);
    }

    /** Returns when no thread of a client is in a call. */
    private static void awaitIdle() {
        while (Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("onlyonce-client"))
                .flatMap(thread -> Arrays.stream(thread.getValue()))
                .anyMatch(frame -> frame.getClassName().equals(CallRun.class.getName()))) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    @DisplayName("Closing the client ends the futures of calls that wait for a thread")
    void closedWhileWaiting() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch busy = new CountDownLatch(256);
        Transport stuck = (request, timeout) -> {
            busy.countDown();
            over.await();
            throw new java.io.IOException("over");
        };
        RetryingClient client = client();
        List<CompletableFuture<CallResult>> calls = new ArrayList<>();
        for (int i = 0; i < 260; i++) {
            calls.add(client.sendAsync("order-" + i, request(), stuck));
        }
        busy.await();
        client.close();
        for (CompletableFuture<CallResult> call : calls) {
            assertThat(call).failsWithin(30, TimeUnit.SECONDS);
        }
    }
}
