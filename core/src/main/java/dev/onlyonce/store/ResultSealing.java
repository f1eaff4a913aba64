package dev.onlyonce.store;

import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts results before they leave for a store, and decrypts those that come back. For stores; immutable.
 *
 * @param encryption empty to leave results as they are
 */
public record ResultSealing(Optional<Encryption> encryption) {
    /** What the result of an entry is used for; the same in every store. */
    private static final String USE = "result";

    private static final Logger log = LoggerFactory.getLogger(ResultSealing.class);

    /** With its result sealed. */
    public Settlement seal(Settlement s) {
        return encryption.isEmpty() || s.result() == null
                ? s
                : new Settlement(s.id(), s.token(), s.to(), encryption.get().seal(s.id(), USE, s.result()), s.reason());
    }

    /** With its result sealed. */
    public Resolution seal(Resolution r) {
        return encryption.isEmpty() || r.result() == null
                ? r
                : r.withResult(encryption.get().seal(r.id(), USE, r.result()));
    }

    /** A result that cannot be opened stays sealed, so that it fails its reader alone and not everybody in the batch. */
    public Entry open(Entry entry) {
        if (encryption.isEmpty() || entry.result() == null) {
            return entry;
        }
        try {
            return entry.withResult(encryption.get().open(entry.id(), USE, entry.result()));
        } catch (StoreUnavailable e) {
            log.error("{}", e.getMessage());
            return entry;
        }
    }

    /** With the result of the entry that it shows opened. */
    public ClaimResult open(ClaimResult result) {
        return result instanceof ClaimResult.Existing existing
                ? new ClaimResult.Existing(open(existing.entry()))
                : result;
    }
}
