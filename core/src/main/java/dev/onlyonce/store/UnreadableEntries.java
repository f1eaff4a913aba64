package dev.onlyonce.store;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leaves out of lists what a store cannot read: somebody else has overwritten it, or a newer release wrote it. One such entry must not hide
 * all others from operators and reconcilers. Each is reported in the log once, since lists are read every second. Any number of threads.
 */
public final class UnreadableEntries {
    /** Beyond this many, all of them are reported once more. */
    private static final int REPORTED_MAX = 1000;

    private static final Logger log = LoggerFactory.getLogger(UnreadableEntries.class);

    private final Set<Object> reported = ConcurrentHashMap.newKeySet();

    /** For one store. */
    public UnreadableEntries() {}

    /**
     * Reads an entry or a record.
     *
     * @param what its id or name, for the log
     * @return empty if the reading throws
     */
    public <T> Optional<T> read(Object what, Supplier<T> reading) {
        try {
            return Optional.of(reading.get());
        } catch (RuntimeException e) {
            report(what, e);
            return Optional.empty();
        }
    }

    /** Logs that something is left out, unless it is known. */
    public void report(Object what, RuntimeException why) {
        if (reported.size() >= REPORTED_MAX) {
            reported.clear();
        }
        if (reported.add(what)) {
            log.error("Left out of lists and audits, because it cannot be read: {}: {}", what, why.toString());
        }
    }
}
