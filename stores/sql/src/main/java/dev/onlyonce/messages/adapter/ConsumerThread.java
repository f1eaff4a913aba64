package dev.onlyonce.messages.adapter;

import dev.onlyonce.messages.MessageConsumer;
import dev.onlyonce.messages.MessageCounts;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A consumer with a thread of its own, from {@link #start} to {@link #close}. A broker's module says what the thread does: it receives
 * messages, hands them to the {@link MessageDispatcher}, acknowledges what is done, and begins again after a {@link #pause} if something
 * breaks.
 */
public abstract class ConsumerThread implements MessageConsumer {
    private static final Duration CLOSE_MAX = Duration.ofSeconds(30);

    private static final Logger log = LoggerFactory.getLogger(ConsumerThread.class);

    private final String name;
    private final MessageDispatcher<?> dispatcher;
    private final CompletableFuture<Void> closing = new CompletableFuture<>();
    private @Nullable Thread thread;

    /**
     * Not started yet.
     *
     * @param name of its thread
     * @param dispatcher which it closes
     */
    protected ConsumerThread(String name, MessageDispatcher<?> dispatcher) {
        this.name = name;
        this.dispatcher = dispatcher;
    }

    /** Consumes on the consumer's thread, until {@link #isClosing}. */
    protected abstract void consume();

    /** Wakes the thread when it waits for the broker. Called by any thread, once it is closing. */
    protected void wake() {}

    /** Starts to consume. */
    @Override
    public final synchronized void start() {
        if (isClosing()) {
            throw new IllegalStateException("it is closed");
        }
        if (thread == null) {
            Thread started = new Thread(this::consume, name);
            started.start();
            thread = started;
        }
    }

    /** Whether the thread has to end. */
    protected final boolean isClosing() {
        return closing.isDone();
    }

    /** Done when the thread has to end. */
    protected final CompletableFuture<Void> closing() {
        return closing;
    }

    /** Waits for this long, or until the thread has to end. */
    protected final void pause(Duration pause) {
        try {
            dispatcher.time().await(closing, pause);
        } catch (InterruptedException e) {
            // A time limit of a handler may interrupt too late.
            log.warn("The thread {} was interrupted, and goes on", name, e);
        }
    }

    /** How many messages went which way since the start. */
    @Override
    public final MessageCounts counts() {
        return dispatcher.counts();
    }

    @Override
    public final Map<String, Integer> hung() {
        return dispatcher.hung();
    }

    /** Ends after the batch that is running, acknowledges it, and leaves the rest to others. Waits for that, within a bound. */
    @Override
    public final void close() {
        Thread started;
        synchronized (this) {
            closing.complete(null);
            wake();
            started = thread;
        }
        try {
            if (started != null) {
                started.join(CLOSE_MAX.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        dispatcher.close();
    }
}
