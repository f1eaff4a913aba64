package dev.onlyonce.server.proxy;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether an upstream has sent bytes that belong to no answer, such as the rest of a body that is longer than its
 * {@code Content-Length}. They may come so late that the next request is on its way already, so for a while none of its
 * connections is used twice. Not thread-safe: for one event loop.
 */
final class UnexpectedBytes {
    private static final Logger log = LoggerFactory.getLogger(UnexpectedBytes.class);

    private static final long LASTS_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final String upstream;
    private final LongSupplier nanos;
    private boolean present;
    private long since;

    UnexpectedBytes(String upstream, LongSupplier nanos) {
        this.upstream = upstream;
        this.nanos = nanos;
    }

    void seen() {
        if (!isRecent()) {
            log.warn("Upstream {} sends more than it announces; its connections are not reused for a minute", upstream);
        }
        present = true;
        since = nanos.getAsLong();
    }

    boolean isRecent() {
        present &= nanos.getAsLong() - since < LASTS_NANOS;
        return present;
    }
}
