package dev.onlyonce.cassandra;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreUnavailable;
import dev.onlyonce.store.Terms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Claims, settlements, and calls that are repeated while a server comes back. */
final class Calls {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(20);

    private Calls() {}

    static ClaimRequest claim(String key) {
        return claim(key, Duration.ofHours(1));
    }

    static ClaimRequest claim(String key, Duration retention) {
        return claim(key, retention, Duration.ZERO);
    }

    static ClaimRequest claim(String key, Duration retention, Duration tombstone) {
        return new ClaimRequest(
                new EntryId("acme", "", key),
                "POST /payments",
                Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8)),
                UUID.randomUUID(),
                "node-1",
                new Terms(Duration.ofMinutes(5), OnLeaseLost.UNKNOWN, retention, tombstone),
                State.PROCESSING);
    }

    static Settlement completed(ClaimRequest claim) {
        byte[] result = claim.id().key().getBytes(StandardCharsets.UTF_8);
        return Settlement.of(claim.id(), claim.token(), State.COMPLETED, Optional.of(result), "done");
    }

    /** Repeats a call until the store takes it, as a client does. */
    static <T> T untilTaken(Supplier<T> call) {
        return until(call, StoreException.class);
    }

    /** Repeats a call until the store takes or refuses it. */
    static <T> T untilAnswered(Supplier<T> call) {
        return until(call, StoreUnavailable.class);
    }

    private static <T> T until(Supplier<T> call, Class<? extends StoreException> notYet) {
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                return call.get();
            } catch (StoreException e) {
                if (System.nanoTime() - giveUp > 0 || !notYet.isInstance(e)) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }
}
