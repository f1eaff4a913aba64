package dev.onlyonce.redis;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.Terms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Claims, settlements, and calls that are repeated while a server comes back. */
final class Calls {
    private static final Terms TERMS =
            new Terms(Duration.ofMinutes(5), OnLeaseLost.UNKNOWN, Duration.ofHours(1), Duration.ZERO);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(20);

    private Calls() {}

    static ClaimRequest claim(String key) {
        return new ClaimRequest(
                new EntryId("acme", "", key),
                "POST /payments",
                Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8)),
                UUID.randomUUID(),
                "node-1",
                TERMS,
                State.PROCESSING);
    }

    static Settlement completed(ClaimRequest claim) {
        byte[] result = claim.id().key().getBytes(StandardCharsets.UTF_8);
        return Settlement.of(claim.id(), claim.token(), State.COMPLETED, Optional.of(result), "done");
    }

    /** Repeats a call until the store takes it, as a client does. */
    static <T> T untilTaken(Supplier<T> call) {
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return call.get();
            } catch (StoreException e) {
                if (System.nanoTime() - giveUp > 0) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    /** Repeats a call until it fails in this way. */
    static void until(Class<? extends StoreException> failure, String message, Runnable call) {
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        StoreException last = null;
        while (System.nanoTime() - giveUp < 0) {
            try {
                call.run();
            } catch (StoreException e) {
                last = e;
                if (failure.isInstance(e) && String.valueOf(e.getMessage()).contains(message)) {
                    return;
                }
            }
            LockSupport.parkNanos(PAUSE.toNanos());
        }
        throw new AssertionError("never failed with " + message, last);
    }
}
