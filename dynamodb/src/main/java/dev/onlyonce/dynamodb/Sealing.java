package dev.onlyonce.dynamodb;

import dev.onlyonce.store.ClaimResult;
import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.StoreUnavailable;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts results before they leave for DynamoDB, if there is a key. A result that an item cannot hold is left out: what happened is
 * recorded without it and never runs again.
 */
record Sealing(Optional<Encryption> encryption) {
    /** What the result of an entry is used for; the same in every store. */
    private static final String USE = "result";
    /** Enough for people; a failure's message may be of any length. */
    private static final int MESSAGE_LENGTH_MAX = 1000;

    private static final Logger log = LoggerFactory.getLogger(Sealing.class);

    Settlement seal(Settlement s) {
        return s.result() == null
                ? s
                : new Settlement(s.id(), s.token(), s.to(), sealed(s.id(), fitting(s.id(), s.result())), s.reason());
    }

    Resolution seal(Resolution r) {
        return r.result() == null ? r : r.withResult(sealed(r.id(), fitting(r.id(), r.result())));
    }

    private byte[] sealed(EntryId id, byte[] result) {
        return encryption.isEmpty() ? result : encryption.get().seal(id, USE, result);
    }

    private static byte[] fitting(EntryId id, byte[] result) {
        if (result.length <= DynamoDbStore.RESULT_BYTES_MAX) {
            return result;
        }
        log.warn("The result of {} has {} bytes and is not stored: an item cannot hold it", id, result.length);
        Failure failure = failure(result);
        int length = Math.min(failure.message().length(), MESSAGE_LENGTH_MAX);
        return Envelope.failure(new Failure(failure.code(), failure.message().substring(0, length)));
    }

    private static Failure failure(byte[] result) {
        Failure none = new Failure(
                Failure.RESULT_NOT_STORED,
                "It completed, but its result was larger than an item of DynamoDB and was not stored");
        try {
            return Envelope.open(result) instanceof Envelope.Content.Failed failed ? failed.failure() : none;
        } catch (StoreUnavailable e) {
            return none;
        }
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
