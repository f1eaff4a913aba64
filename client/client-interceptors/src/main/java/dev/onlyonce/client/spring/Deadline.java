package dev.onlyonce.client.spring;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds blocking work of the current thread, which it interrupts when the time is over. The work stays on its thread: what
 * Spring keeps there (security, transactions) must be found by the interceptors behind.
 */
final class Deadline implements AutoCloseable {
    private static final int BLOCK = 16 * 1024;
    private static final ScheduledThreadPoolExecutor CLOCK = new ScheduledThreadPoolExecutor(1, task -> {
        Thread thread = new Thread(task, "onlyonce-deadline");
        thread.setDaemon(true);
        return thread;
    });

    static {
        CLOCK.setRemoveOnCancelPolicy(true);
    }

    private static final Logger log = LoggerFactory.getLogger(Deadline.class);

    private final Thread thread = Thread.currentThread();
    private final Duration timeout;
    private final long endsAt;
    private final ScheduledFuture<?> alarm;
    private boolean isEnded; // guarded by this
    private boolean isInterrupted; // guarded by this
    private @Nullable InputStream stream; // guarded by this

    private Deadline(Duration timeout) {
        this.timeout = timeout;
        this.endsAt = System.nanoTime() + timeout.toNanos();
        this.alarm = CLOCK.schedule(this::interrupt, timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    static Deadline after(Duration timeout) {
        return new Deadline(timeout);
    }

    private synchronized void interrupt() {
        if (!isEnded) {
            isInterrupted = true;
            thread.interrupt();
            InputStream open = stream;
            if (open != null) {
                // The stream of the JDK's client ignores interrupts. Others may read on to their end when they are
                // closed.
                Thread closer = new Thread(() -> close(open), "onlyonce-deadline-close");
                closer.setDaemon(true);
                closer.start();
            }
        }
    }

    private static void close(InputStream open) {
        try {
            open.close();
        } catch (IOException e) {
            log.debug("An answer that took too long could not be closed", e);
        }
    }

    boolean isOver() {
        return System.nanoTime() - endsAt >= 0;
    }

    /** What to throw when the time is over. */
    IOException passed(Exception cause) {
        IOException passed = new HttpTimeoutException("no whole answer in " + timeout.toMillis() + " ms");
        passed.initCause(cause);
        return passed;
    }

    /** The bytes up to a bound. A server that drips does not block, so the time is looked at before each block. */
    byte[] read(InputStream in, int bytesMax) throws IOException {
        synchronized (this) {
            stream = in;
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] block = new byte[BLOCK];
        while (bytes.size() < bytesMax) {
            if (isOver()) {
                throw new HttpTimeoutException("no whole answer in " + timeout.toMillis() + " ms");
            }
            int count = in.read(block, 0, Math.min(BLOCK, bytesMax - bytes.size()));
            if (count < 0) {
                break;
            }
            bytes.write(block, 0, count);
        }
        synchronized (this) {
            if (isInterrupted) {
                // It may have ended because it was closed.
                throw new HttpTimeoutException("no whole answer in " + timeout.toMillis() + " ms");
            }
        }
        return bytes.toByteArray();
    }

    /** Takes back an interrupt of its own. */
    @Override
    public synchronized void close() {
        isEnded = true;
        alarm.cancel(false);
        if (isInterrupted) {
            boolean unused = Thread.interrupted();
        }
    }
}
