package dev.onlyonce.messages.adapter;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.LeasedHandler;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.store.StoreException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies messages whose effects are outside the database, each under a lease: messages of one order in turn, the others at
 * once, so that their claims and settlements share statements. A message whose outcome is unknown is done here: it is the reconciler's,
 * and does not keep those behind it waiting.
 */
final class LeasedApplication<T> implements Application {
    private static final Logger log = LoggerFactory.getLogger(LeasedApplication.class);

    private final Onlyonce once;
    private final String operation;
    private final Reading<T> reading;
    private final LeasedHandler<T> handler;
    private final ExecutorService threads;

    LeasedApplication(Onlyonce once, Leasing<T> leasing, Reading<T> reading) {
        this.once = once;
        this.operation = leasing.operation;
        this.reading = reading;
        this.handler = leasing.handler;
        this.threads = Executors.newFixedThreadPool(leasing.concurrency);
    }

    /** The handler, and how many threads call it. */
    record Leasing<T>(String operation, LeasedHandler<T> handler, int concurrency) {}

    @Override
    public List<Applied> apply(List<? extends Letter<?>> letters) {
        Map<Object, List<Letter<?>>> rows = new LinkedHashMap<>();
        for (Letter<?> letter : letters) {
            Object order = letter.order();
            rows.computeIfAbsent(order == null ? letter : order, row -> new ArrayList<>())
                    .add(letter);
        }
        Map<Letter<?>, Applied> applied = new ConcurrentHashMap<>();
        List<Future<?>> running = new ArrayList<>();
        rows.values().forEach(row -> running.add(threads.submit(() -> applyRow(row, applied))));
        running.forEach(LeasedApplication::await);
        List<Applied> answers = new ArrayList<>();
        letters.forEach(letter -> answers.add(requireNonNull(applied.get(letter))));
        return answers;
    }

    /** Waits for all: a message that is still running must not be handed out again. */
    private static void await(Future<?> row) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    row.get();
                    return;
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void applyRow(List<Letter<?>> row, Map<Letter<?>, Applied> applied) {
        boolean held = false;
        for (Letter<?> letter : row) {
            Applied answer = held ? new Applied.Held() : applyOne(letter);
            held = held || answer instanceof Applied.Failed || answer instanceof Applied.Held;
            applied.put(letter, answer);
        }
    }

    private Applied applyOne(Letter<?> letter) {
        Key key = Key.of(
                        reading.source(letter),
                        operation,
                        requireNonNull(letter.identity()).id())
                .in(Scope.OPERATION);
        Fingerprint fingerprint = Fingerprint.of(letter.message().body());
        try {
            // Before the claim: what cannot be decoded has had no effect, and an exception in the action proves
            // nothing.
            T value = reading.decode(letter.message());
            Outcome<byte[]> outcome = once.execute(key, fingerprint, Codec.bytes(), claim -> {
                handler.apply(claim, value, letter.message());
                return new byte[0];
            });
            return applied(key, outcome);
        } catch (PoisonMessage e) {
            return new Applied.Failed(e);
        } catch (StoreException e) {
            log.warn("The store cannot answer for {}; it is tried again", key, e);
            return new Applied.Held();
        } catch (Exception e) {
            // The next try tells what the exception proved: the entry is retryable, and executed again, or unknown.
            return new Applied.Failed(e);
        } catch (Error e) {
            return new Applied.Failed(new IllegalStateException("the handler broke: " + e, e));
        }
    }

    private static Applied applied(Key key, Outcome<byte[]> outcome) {
        if (outcome instanceof Outcome.Executed) {
            return new Applied.Now();
        }
        if (outcome instanceof Outcome.Unknown) {
            log.warn("The outcome of {} is unknown: the reconciler or an operator has to find out", key);
            return new Applied.Before();
        }
        return Applied.of(outcome);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
