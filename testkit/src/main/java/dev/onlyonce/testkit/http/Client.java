package dev.onlyonce.testkit.http;

import dev.onlyonce.check.wire.HeaderLine;
import dev.onlyonce.check.wire.RawRequest;
import dev.onlyonce.check.wire.Wire;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** Talks to the application under test, patiently. */
public final class Client {
    /** Far more than anything takes on a busy machine. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The pause between two checks of a condition. */
    private static final long PAUSE_NANOS = Duration.ofMillis(20).toNanos();

    private final URI base;
    private final UnaryOperator<String> authorization;

    Client(URI base, UnaryOperator<String> authorization) {
        this.base = base;
        this.authorization = authorization;
    }

    Call call(String path) {
        String id = UUID.randomUUID().toString();
        return new Call(this, get(url(path)).method("POST"))
                .json("{\"amount\":10,\"to\":\"bob\"}")
                .effect(id)
                .keys(id);
    }

    URI url(String path) {
        return base.resolve(path);
    }

    String authorization(String tenant) {
        return authorization.apply(tenant);
    }

    private RawRequest get(URI url) {
        return RawRequest.get(url, List.of(new HeaderLine("Authorization", authorization("acme"))));
    }

    /** Sends a request. Cancelling the future hangs up. */
    CompletableFuture<Answer> begin(RawRequest request) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        Wire wire;
        try {
            wire = Wire.open(request.url(), PATIENCE);
        } catch (IOException e) {
            answer.completeExceptionally(e);
            return answer;
        }
        var unused = answer.whenComplete((came, failure) -> hangUp(wire));
        Thread thread = new Thread(
                () -> {
                    try {
                        wire.writeAll(request);
                        answer.complete(new Answer(wire.read(request.method())));
                    } catch (IOException | RuntimeException e) {
                        answer.completeExceptionally(e);
                    }
                },
                "conformance");
        thread.setDaemon(true);
        thread.start();
        return answer;
    }

    /** Sends requests one after the other on one connection, which the application has to keep. */
    static List<Answer> onOneConnection(Call... calls) {
        List<Answer> answers = new ArrayList<>();
        try (Wire wire = Wire.open(calls[0].request().url(), PATIENCE)) {
            for (Call call : calls) {
                RawRequest request = call.request().with("Connection", "keep-alive");
                wire.writeAll(request);
                answers.add(new Answer(wire.read(request.method())));
            }
        } catch (IOException e) {
            throw new AssertionError("the application broke off after " + answers, e);
        }
        return answers;
    }

    private static void hangUp(Wire wire) {
        try {
            wire.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Answer get(String path) {
        return join(begin(get(url(path))));
    }

    /** Lets those go on who wait at this gate. */
    void open(String gate) {
        join(begin(get(url("/gates/" + gate)).method("POST")));
    }

    static <T> T join(CompletableFuture<T> future) {
        return join(future, PATIENCE);
    }

    static <T> T join(CompletableFuture<T> future, Duration patience) {
        try {
            return future.get(patience.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError("no answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Asks again and again until it is so. */
    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("this did not happen: " + what);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
