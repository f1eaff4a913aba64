package dev.onlyonce.server.proxy;

import io.vertx.core.Handler;
import java.util.function.Consumer;

/**
 * Handlers of streams that cannot fail unnoticed. Vert.x only logs what a handler throws and goes on with the next event: a
 * chunk would be missing and the stream would still end as if whole.
 */
public final class SafeHandlers {
    private SafeHandlers() {}

    /** The same handler, which reports everything that it throws. */
    public static <T> Handler<T> handler(Handler<T> handler, Consumer<Throwable> failed) {
        return event -> run(() -> handler.handle(event), failed);
    }

    /** Runs a part of an exchange and reports everything that it throws. */
    public static void run(Runnable part, Consumer<Throwable> failed) {
        try {
            part.run();
        } catch (Throwable e) {
            failed.accept(e);
        }
    }
}
