package dev.onlyonce.cassandra;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.StoreUnavailable;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Encrypts results before they leave for Cassandra, if there is a key. */
record Sealing(Optional<Encryption> encryption) {
    /** What the result of an entry is used for; the same in every store. */
    private static final String USE = "result";

    private static final Logger log = LoggerFactory.getLogger(Sealing.class);

    Settlement seal(Settlement s) {
        return encryption.isEmpty() || s.result() == null
                ? s
                : new Settlement(s.id(), s.token(), s.to(), encryption.get().seal(s.id(), USE, s.result()), s.reason());
    }

    Resolution seal(Resolution r) {
        return encryption.isEmpty() || r.result() == null
                ? r
                : r.withResult(encryption.get().seal(r.id(), USE, r.result()));
    }

    /** A result that cannot be opened stays sealed, so that it fails its reader alone and not everybody in the batch. */
    Entry open(Entry entry) {
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

    ClaimResult open(ClaimResult result) {
        return result instanceof ClaimResult.Existing existing
                ? new ClaimResult.Existing(open(existing.entry()))
                : result;
    }
}
