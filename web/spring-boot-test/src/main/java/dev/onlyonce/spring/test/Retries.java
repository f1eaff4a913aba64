package dev.onlyonce.spring.test;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onlyonce.Onlyonce;
import dev.onlyonce.spring.Coverage;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.State;
import dev.onlyonce.testkit.CrashingStore;
import dev.onlyonce.testkit.ManualTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;

/**
 * Asserts what becomes of retries. Each assertion that sends requests makes a new key for itself.
 *
 * <pre>{@code
 * retries.assertReplayed(key -> Reply.of(mvc.perform(post("/orders").header("Idempotency-Key", key))));
 * }</pre>
 */
public final class Retries {
    /** Longer than any interval between two sweeps that makes sense. */
    private static final Duration SWEPT = Duration.ofMinutes(1);

    private static final int UNAUTHORIZED = 401;

    private final Onlyonce once;
    private final Supplier<@Nullable Coverage> coverage;

    Retries(Onlyonce once, Supplier<@Nullable Coverage> coverage) {
        this.once = once;
        this.coverage = coverage;
    }

    /** Sends one request, always the same, with the key that it gets. */
    @FunctionalInterface
    public interface Request {
        /** Sends it and waits for the answer. */
        Reply send(String key) throws Exception;
    }

    /** Asserts that a handler, or a method of a bean, is protected under this name, such as {@code POST /orders}. */
    public void assertProtected(String operation) {
        assertThat(once.registry().ownPolicy(operation))
                .as(
                        "\"%s\" is not protected: is there an @Idempotent method with this name? Protected handlers: %s",
                        operation, coverage() == null ? "none" : coverage().protectedHandlers())
                .isPresent();
    }

    /** Asserts that every POST and PATCH handler is protected, or exempt with a reason. */
    public void assertAllProtected() {
        Coverage all = coverage();
        assertThat(all == null ? List.of() : all.unprotectedHandlers())
                .as("handlers that are neither @Idempotent nor @Unprotected")
                .isEmpty();
    }

    private @Nullable Coverage coverage() {
        return coverage.get();
    }

    /**
     * Asserts that a retry gets the recorded answer of the first request, byte for byte, and that nothing runs again.
     *
     * @return the answer to the first request
     */
    public Reply assertReplayed(Request request) throws Exception {
        String key = newKey();
        Reply first = first(request, key);
        Reply retry = request.send(key);
        assertThat(retry.isReplay())
                .as("the retry was not replayed. First answer: %s. Answer to the retry: %s", first, retry)
                .isTrue();
        assertThat(retry.status()).as("status of the retry").isEqualTo(first.status());
        assertThat(retry.text()).as("body of the retry").isEqualTo(first.text());
        return first;
    }

    /**
     * Asserts that another request with the key of the first one is refused and does not run.
     *
     * @return the refusal
     */
    public Reply assertRefusesOther(Request first, Request other) throws Exception {
        String key = newKey();
        first(first, key);
        Reply refused = other.send(key);
        assertThat(refused.text())
                .as("another request with the same key was answered with %s", refused)
                .containsAnyOf("\"key_reused\"", "\"idempotency_error\"");
        return refused;
    }

    /**
     * Lets the application crash after the handler has run and before its answer is recorded. Asserts that the outcome is then
     * unknown: a retry is refused and does not run the handler again. Needs {@link OnlyonceTest}; moves the clock past the lease.
     *
     * @return the answer to the retry
     */
    public Reply assertUnknownAfterCrash(Request request) throws Exception {
        if (!(once.registry().store() instanceof CrashingStore store)
                || !(once.registry().time() instanceof ManualTime time)) {
            throw new IllegalStateException(
                    "Only a test with @OnlyonceTest can let the application crash: annotate its class");
        }
        String key = newKey();
        store.crashNext();
        Reply lost;
        Optional<EntryId> crashed;
        try {
            lost = request.send(key);
        } finally {
            crashed = store.endCrash();
        }
        EntryId id = crashed.orElseThrow(() -> new AssertionError(
                "Nothing was to be recorded, so nothing could be lost. Is the handler protected? It answered " + lost));
        time.advance(entry(store, id).leaseLeft().plus(SWEPT));
        assertThat(entry(store, id).state())
                .as("state of the entry whose owner crashed; see onlyonce.on-lease-lost")
                .isEqualTo(State.UNKNOWN);
        Reply retry = request.send(key);
        assertThat(retry.text()).as("answer to the retry").contains("\"outcome_unknown\"");
        assertThat(entry(store, id).attempt()).as("attempts").isEqualTo(1);
        return retry;
    }

    private static Entry entry(CrashingStore store, EntryId id) {
        return store.find(List.of(id)).get(0).orElseThrow();
    }

    private static Reply first(Request request, String key) throws Exception {
        Reply first = request.send(key);
        if (first.status() == UNAUTHORIZED) {
            Assertions.fail(
                    "The first request was not authenticated (401), so it owns no key. Authenticate it in the test, or set"
                            + " onlyonce.anonymous-tenant. It was answered with " + first);
        }
        assertThat(first.isReplay())
                .as("the first request was replayed: does it use the key that it got?")
                .isFalse();
        return first;
    }

    private static String newKey() {
        return UUID.randomUUID().toString();
    }
}
