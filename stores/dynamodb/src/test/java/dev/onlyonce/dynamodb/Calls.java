package dev.onlyonce.dynamodb;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.OnLeaseLost;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.State;
import dev.onlyonce.store.Terms;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/** Claims and settlements for tests. */
final class Calls {
    static final Duration LEASE = Duration.ofMinutes(5);
    static final Duration RETENTION = Duration.ofHours(1);

    private Calls() {}

    static ClaimRequest claim(String key) {
        return new ClaimRequest(
                new EntryId("acme", "", key),
                "POST /payments",
                Fingerprint.of("10 EUR".getBytes(StandardCharsets.UTF_8)),
                UUID.randomUUID(),
                "node-1",
                new Terms(LEASE, OnLeaseLost.UNKNOWN, RETENTION, Duration.ZERO),
                State.PROCESSING);
    }

    static Settlement completed(ClaimRequest claim) {
        byte[] result = claim.id().key().getBytes(StandardCharsets.UTF_8);
        return settlement(claim, State.COMPLETED, Optional.of(result));
    }

    static Settlement settlement(ClaimRequest claim, State to, Optional<byte[]> result) {
        return Settlement.of(claim.id(), claim.token(), to, result, "done");
    }
}
