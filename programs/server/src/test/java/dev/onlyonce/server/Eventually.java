package dev.onlyonce.server;

import java.util.concurrent.locks.LockSupport;

/** Waits for what happens by itself. */
final class Eventually {
    private static final long PATIENCE_NANOS = 60_000_000_000L;

    private Eventually() {}

    /** A check that may fail for a while. */
    @FunctionalInterface
    interface Check {
        void run() throws Exception;
    }

    /** Returns when the check holds; after a minute, fails as the check does. */
    static void eventually(Check check) throws Exception {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            try {
                check.run();
                return;
            } catch (AssertionError | Exception e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                LockSupport.parkNanos(20_000_000);
            }
        }
    }
}
