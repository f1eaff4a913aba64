package dev.onlyonce.webflux;

import dev.onlyonce.http.EventLoop;
import dev.onlyonce.http.Exchange;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * What all protected exchanges share: the application's exception handlers and codecs, and the threads for what blocks. The
 * application's own schedulers are not used for that: waiting duplicates could take the threads that the request they wait for needs.
 */
final class Surroundings implements AutoCloseable {
    /** Settling after trouble and claiming with look-ups: each takes a round trip to the store. */
    private static final int THREADS_MAX = 32;
    /** Beyond these the node is too busy to ask the store. */
    private static final int QUEUED_MAX = 10_000;
    /** Duplicates that wait for a running request; others get their 409 at once. */
    private static final int WAITING_MAX = 64;

    private final List<WebExceptionHandler> errors;
    private final ServerCodecConfigurer codecs;
    private final Scheduler workers = Schedulers.newBoundedElastic(THREADS_MAX, QUEUED_MAX, "onlyonce");
    private final Scheduler waiting = Schedulers.newBoundedElastic(WAITING_MAX, QUEUED_MAX, "onlyonce-waiting");
    private final Semaphore mayWait = new Semaphore(WAITING_MAX);
    // What follows on an answer of the store is the application's handler: it must not keep the store's thread.
    private final EventLoop loop = new EventLoop(Schedulers.parallel()::schedule, workers::schedule);

    Surroundings(List<WebExceptionHandler> errors, ServerCodecConfigurer codecs) {
        this.errors = List.copyOf(errors);
        this.codecs = codecs;
    }

    List<WebExceptionHandler> errors() {
        return errors;
    }

    ServerCodecConfigurer codecs() {
        return codecs;
    }

    EventLoop loop() {
        return loop;
    }

    /** Runs what blocks or computes for long; {@link RejectedExecutionException} if there is too much of it. */
    <T> Mono<T> blocking(Supplier<T> work) {
        return Mono.fromSupplier(work).subscribeOn(workers).publishOn(Schedulers.parallel());
    }

    /** Waits for the running request with this key; if too many wait, the exchange stays as it is. */
    Mono<Exchange> await(Exchange exchange) {
        if (!mayWait.tryAcquire()) {
            return Mono.just(exchange);
        }
        return Mono.fromSupplier(exchange::await)
                .doFinally(any -> mayWait.release())
                .subscribeOn(waiting)
                .publishOn(Schedulers.parallel());
    }

    @Override
    public void close() {
        workers.dispose();
        waiting.dispose();
    }
}
