package dev.onlyonce.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a store that would forget, has forgotten, or is not the one that this node knows. Every store has one.
 *
 * <ol>
 *   <li>Opening a store reads its {@link StoreMark}. A store without one has lost its entries: the mark is made with the tables.
 *   <li>Every sweep looks again, see {@link Store#recheck}: at the settings that were checked when the store was opened, and at the mark.
 *   <li>Bad settings, no mark, or the mark of another store close the gate. From then on every call that claims, settles, looks an entry
 *       up or changes one throws {@link StoreRefused}, and health checks fail with the reason. Operators may still list.
 *   <li>Good settings and the known mark open it again. So does a mark that an operator has put in place of the known one, see
 *       {@link Store#accept}: it is in the store, so all nodes see it.
 *   <li>A store that cannot be reached leaves the gate as it is: its calls fail by themselves.
 * </ol>
 *
 * <p>A node that starts takes the mark that it finds: it has no memory of another one. Thread-safe.
 */
public final class StoreGate {
    private static final Logger log = LoggerFactory.getLogger(StoreGate.class);

    private static final String ACCEPT =
            " Find out what happened first: keys from before are unknown now, and requests with them would"
                    + " run again. Then bring the entries back, or run: onlyonce store accept --reason ...";

    private final Runnable settings;
    private final Supplier<Optional<StoreMark>> read;
    private final Consumer<StoreMark> write;
    private volatile @Nullable StoreMark known;
    private volatile @Nullable String refusal;

    /**
     * An open gate that knows no mark yet.
     *
     * @param settings throws {@link StoreRefused} or {@link StoreRejected} if the store would forget, another {@link StoreException} if it
     *     cannot be asked
     * @param read the store's mark; empty if it has none, or not in all places
     * @param write puts a mark into the store, whatever is there
     */
    public StoreGate(Runnable settings, Supplier<Optional<StoreMark>> read, Consumer<StoreMark> write) {
        this.settings = settings;
        this.read = read;
        this.write = write;
    }

    /**
     * Throws if the store must not be used.
     *
     * @throws StoreRefused with the reason
     */
    public void check() {
        String reason = refusal;
        if (reason != null) {
            throw new StoreRefused(reason, null);
        }
    }

    /** Why the store must not be used; empty while it may. */
    public Optional<String> refusal() {
        return Optional.ofNullable(refusal);
    }

    /** The id of the store that this node knows; empty before {@link #open}, and if it has none. */
    public Optional<String> id() {
        return Optional.ofNullable(known).map(StoreMark::id);
    }

    /** Reads the mark of a store whose settings were checked. Without one the gate is closed, for an operator to accept the store. */
    public synchronized void open() {
        try {
            if (!isKnown(read.get())) {
                close(absent());
            }
        } catch (StoreRefused e) {
            close(String.valueOf(e.getMessage()));
        }
    }

    /**
     * Looks again.
     *
     * @throws StoreRefused if the store must not be used
     * @throws StoreException if it cannot be asked
     */
    public synchronized void recheck() {
        Optional<StoreMark> found;
        try {
            settings.run();
            found = read.get();
        } catch (StoreRefused | StoreRejected e) {
            throw close(String.valueOf(e.getMessage()));
        }
        if (!isKnown(found)) {
            throw close(
                    found.isEmpty()
                            ? absent()
                            : "The store is another one than before: it was replaced, or emptied and used again."
                                    + ACCEPT);
        }
        if (refusal != null) {
            refusal = null;
            log.warn("The store may be used again");
        }
    }

    private static String absent() {
        return "The store has lost its entries: its mark, which is made with its tables, is gone." + ACCEPT;
    }

    private boolean isKnown(Optional<StoreMark> found) {
        StoreMark before = known;
        if (found.isEmpty() || (before != null && !found.get().isOrReplaces(before))) {
            return false;
        }
        known = found.get();
        return true;
    }

    private StoreRefused close(String reason) {
        if (!reason.equals(refusal)) {
            refusal = reason;
            log.error("The store is refused, and nothing runs until that is over. {}", reason);
        }
        return new StoreRefused(reason, null);
    }

    /**
     * Accepts what is there now in place of what this node knows.
     *
     * @throws IllegalStateException if it is the store that this node knows
     * @throws StoreRefused if it must not be used for another reason
     * @throws StoreException if it cannot be asked
     */
    public synchronized void accept(String who, String reason) {
        Optional<StoreMark> found = readable();
        StoreMark before = known;
        if (found.isPresent() && (before == null || found.get().isOrReplaces(before))) {
            throw new IllegalStateException("There is nothing to accept: this is the store that this node knows."
                    + refusal()
                            .map(why -> " It is refused for another reason: " + why)
                            .orElse(""));
        }
        List<StoreMark> instead = new ArrayList<>();
        if (before != null) {
            instead.add(before);
        }
        found.ifPresent(instead::add);
        write.accept(StoreMark.accepted(instead, who, reason));
        log.warn("The store was accepted as it is, by {}: {}", who, reason);
        recheck();
    }

    /** Empty too if parts of the store have different ones. */
    private Optional<StoreMark> readable() {
        try {
            return read.get();
        } catch (StoreRefused e) {
            return Optional.empty();
        }
    }
}
