package dev.onlyonce.dynamodb;

import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.Envelope;
import dev.onlyonce.store.Failure;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.StoreUnavailable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Leaves out a result that an item cannot hold: what happened is recorded without it and never runs again. */
final class FittingResults {
    /** Enough for people; a failure's message may be of any length. */
    private static final int MESSAGE_LENGTH_MAX = 1000;

    private static final Logger log = LoggerFactory.getLogger(FittingResults.class);

    private FittingResults() {}

    static Settlement fit(Settlement s) {
        return s.result() == null
                ? s
                : new Settlement(s.id(), s.token(), s.to(), fitting(s.id(), s.result()), s.reason());
    }

    static Resolution fit(Resolution r) {
        return r.result() == null ? r : r.withResult(fitting(r.id(), r.result()));
    }

    private static byte[] fitting(EntryId id, byte[] result) {
        if (result.length <= DynamoDbStore.RESULT_BYTES_MAX + Envelope.HEADER_BYTES) {
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
}
