package dev.onlyonce.spring.outbox;

import dev.onlyonce.sql.outbox.Outbox;
import org.springframework.context.SmartLifecycle;

/** Starts the workers before the web server takes requests, and stops them after it has answered the last one. A context that is paused or stopped can be started again. */
final class OutboxLifecycle implements SmartLifecycle {
    /** Below those of Spring Boot's web server. */
    private static final int PHASE = DEFAULT_PHASE - 4096;

    private final Outbox outbox;
    private volatile boolean running;

    OutboxLifecycle(Outbox outbox) {
        this.outbox = outbox;
    }

    @Override
    public void start() {
        outbox.start();
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        outbox.stop();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
