package dev.onlyonce;

import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.store.ClaimRequest;
import dev.onlyonce.store.State;
import java.util.UUID;

/**
 * One attempt to claim a key.
 *
 * @param token fences every later write; repeated calls of this attempt send the same one
 * @param sinceNanos when the attempt began
 */
record ClaimAttempt(Key key, Fingerprint fingerprint, Policy policy, UUID token, long sinceNanos) {
    ClaimRequest request(String node) {
        return new ClaimRequest(
                key.entryId(), key.operation(), fingerprint, token, node, policy.terms(), State.PROCESSING);
    }
}
