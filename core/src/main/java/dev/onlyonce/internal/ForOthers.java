package dev.onlyonce.internal;

/**
 * Marks work that others wait for: heartbeats, sweeps, leading to the store, and handing out the answers of a batch. Code of
 * the application must not run within it; it goes to threads of its own.
 */
public final class ForOthers {
    private static final ThreadLocal<Boolean> NOW = new ThreadLocal<>();

    private ForOthers() {}

    /** Does such work on this thread. */
    public static void run(Runnable work) {
        Boolean before = NOW.get();
        NOW.set(true);
        try {
            work.run();
        } finally {
            if (before == null) {
                NOW.remove();
            }
        }
    }

    /** Whether this thread does such work now. */
    public static boolean isNow() {
        return NOW.get() != null;
    }
}
