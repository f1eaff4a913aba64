package dev.onlyonce.server.gateway;

import io.vertx.core.Context;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings tasks of other threads to an event loop. Tasks that come together wake it once, not once each. */
final class Mailbox implements Executor {
    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);

    private final Context context;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();

    Mailbox(Context context) {
        this.context = context;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (woken.compareAndSet(false, true)) {
            context.runOnContext(now -> runAll());
        }
    }

    private void runAll() {
        // First: what comes from now on may have to wake it again.
        woken.set(false);
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                // The tasks behind it are other exchanges.
                log.error("A task on the event loop failed", e);
            }
        }
    }
}
