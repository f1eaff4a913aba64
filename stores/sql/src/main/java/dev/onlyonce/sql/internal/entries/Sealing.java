package dev.onlyonce.sql.internal.entries;

import dev.onlyonce.store.Encryption;
import dev.onlyonce.store.Entry;
import dev.onlyonce.store.EntryId;
import dev.onlyonce.store.EntryUnreadable;
import dev.onlyonce.store.Life;
import dev.onlyonce.store.Resolution;
import dev.onlyonce.store.Settlement;
import dev.onlyonce.store.StoreTime;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether results are encrypted in the database: everything that writes or reads one asks here. {@link SqlDialect} and below
 * see only the stored bytes.
 */
public final class Sealing {
    /** What the result of an entry is used for. */
    private static final String RESULT = "result";

    private static final Logger log = LoggerFactory.getLogger(Sealing.class);

    private final Optional<Encryption> encryption;

    public Sealing(Optional<Encryption> encryption) {
        this.encryption = encryption;
    }

    public boolean isOn() {
        return encryption.isPresent();
    }

    public List<Settlement> seal(List<Settlement> settlements) {
        return encryption.isEmpty()
                ? settlements
                : settlements.stream().map(this::seal).toList();
    }

    public Settlement seal(Settlement s) {
        return s.result() == null
                ? s
                : new Settlement(s.id(), s.token(), s.to(), seal(s.id(), RESULT, s.result()), s.reason());
    }

    public List<Resolution> sealAll(List<Resolution> resolutions) {
        return encryption.isEmpty()
                ? resolutions
                : resolutions.stream().map(this::seal).toList();
    }

    private Resolution seal(Resolution r) {
        return r.result() == null ? r : r.withResult(seal(r.id(), RESULT, r.result()));
    }

    public byte[] seal(EntryId id, String use, byte[] plain) {
        return encryption.isEmpty() ? plain : encryption.get().seal(id, use, plain);
    }

    /**
     * The entry as the store's contract shows it. A result that cannot be opened stays sealed, so that it fails the one who
     * wants to read it and not everybody in the batch.
     */
    public Entry shown(Entry stored) {
        Entry shown = Life.visible(stored, StoreTime.at(stored.readAt())).orElse(stored);
        if (encryption.isEmpty() || shown.result() == null) {
            return shown;
        }
        try {
            return shown.withResult(open(shown.id(), RESULT, shown.result()));
        } catch (EntryUnreadable e) {
            log.error("{}", e.getMessage());
            return shown;
        }
    }

    /** Opens what was sealed for the same use; throws {@link EntryUnreadable} if that cannot be. */
    public byte[] open(EntryId id, String use, byte[] stored) {
        if (encryption.isPresent()) {
            return encryption.get().open(id, use, stored);
        }
        if (Encryption.isSealed(stored)) {
            // Answers and steps have no envelope that would tell: taken for plain, ciphertext would become a result.
            throw new EntryUnreadable(
                    "A record of " + id + " was sealed with key " + Encryption.keyOf(stored)
                            + ", but no key is configured here",
                    null);
        }
        return stored;
    }
}
