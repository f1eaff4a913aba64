package dev.onlyonce.testkit.http;

import dev.onlyonce.check.wire.RawAnswer;
import dev.onlyonce.check.wire.RawRequest;
import dev.onlyonce.check.wire.Wire;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
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

    private static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();

    private final URI base;
    private final UnaryOperator<String> authorization;

    Client(URI base, UnaryOperator<String> authorization) {
        this.base = base;
        this.authorization = authorization;
    }

    Call call(String path) {
        String id = UUID.randomUUID().toString();
        return new Call(this, "POST", path, "acme", id, id);
    }

    HttpRequest.Builder request(String path, String tenant) {
        HttpRequest.Builder builder = HttpRequest.newBuilder(base.resolve(path)).timeout(PATIENCE);
        return tenant.isEmpty() ? builder : builder.header("Authorization", authorization.apply(tenant));
    }

    CompletableFuture<Answer> send(HttpRequest request) {
        return HTTP.sendAsync(request, BodyHandlers.ofByteArray()).thenApply(Answer::of);
    }

    /** A request as raw bytes, for what no client library would send. */
    RawAnswer raw(RawRequest request) {
        try {
            return Wire.exchange(request, PATIENCE);
        } catch (IOException e) {
            throw new AssertionError("the application broke off", e);
        }
    }

    URI url(String path) {
        return base.resolve(path);
    }

    String authorization(String tenant) {
        return authorization.apply(tenant);
    }

    /** How often handlers ran for this effect. */
    int effects(String effect) {
        return Integer.parseInt(get("/effects/" + effect).text().strip());
    }

    Answer get(String path) {
        return join(send(request(path, "acme").GET().build()));
    }

    /** Lets those go on who wait at this gate. */
    void open(String gate) {
        join(send(
                request("/gates/" + gate, "acme").POST(BodyPublishers.noBody()).build()));
    }

    static <T> T join(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
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
