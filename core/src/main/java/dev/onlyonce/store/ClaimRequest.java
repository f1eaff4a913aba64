package dev.onlyonce.store;

import dev.onlyonce.fingerprint.Fingerprint;
import java.util.UUID;

/**
 * Asks for the right to execute.
 *
 * @param id which entry
 * @param operation the operation's name; part of what is compared
 * @param fingerprint of the request; fixed by the first claim
 * @param token made by the caller before the first try and reused by every retry of this request: it tells a lost
 *     acknowledgement from somebody else's claim, and fences every later write
 * @param owner the node that asks, for operators
 * @param terms stored with the entry
 * @param start {@link State#PROCESSING} to execute now, {@link State#PENDING} to accept it for a worker
 */
public record ClaimRequest(
        EntryId id, String operation, Fingerprint fingerprint, UUID token, String owner, Terms terms, State start) {

    /** Checks the start. */
    public ClaimRequest {
        if (start != State.PROCESSING && start != State.PENDING) {
            throw new IllegalArgumentException("an entry starts as PROCESSING or PENDING, not " + start);
        }
    }
}
