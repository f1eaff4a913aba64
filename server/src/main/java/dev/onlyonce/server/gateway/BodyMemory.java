package dev.onlyonce.server.gateway;

import java.util.concurrent.atomic.AtomicLong;

/** How much the bodies of all protected exchanges may take together; each of them alone is limited too. Thread-safe. */
final class BodyMemory {
    private final long bytesMax;
    private final AtomicLong taken = new AtomicLong();

    BodyMemory(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** Takes so much; false, and nothing is taken, if there is not so much left. */
    boolean take(int bytes) {
        if (taken.addAndGet(bytes) <= bytesMax) {
            return true;
        }
        taken.addAndGet(-bytes);
        return false;
    }

    void giveBack(long bytes) {
        taken.addAndGet(-bytes);
    }
}
