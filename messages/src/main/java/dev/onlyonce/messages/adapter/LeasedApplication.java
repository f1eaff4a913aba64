package dev.onlyonce.messages.adapter;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.Codec;
import dev.onlyonce.Key;
import dev.onlyonce.Onlyonce;
import dev.onlyonce.Outcome;
import dev.onlyonce.Scope;
import dev.onlyonce.fingerprint.Fingerprint;
import dev.onlyonce.messages.DeadLetterReason;
import dev.onlyonce.messages.LeasedHandler;
import dev.onlyonce.messages.PoisonMessage;
import dev.onlyonce.sql.inbox.Applied;
import dev.onlyonce.store.EntryUnreadable;
import dev.onlyonce.store.StoreException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies messages whose effects are outside the database, each under a lease: messages of one order in turn, the others at
 * once, so that their claims and settlements share statements. A message whose outcome is unknown is the reconciler's. It is given up, so
 * that it does not keep those behind it waiting, and its dead letter can be sent again if the reconciler finds that nothing happened.
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

    /** What became of each, and the store's failures. */
    private record Round(Map<Letter<?>, Applied> applied, Queue<StoreException> trouble) {}

    @Override
    public List<Applied> apply(List<? extends Letter<?>> letters) {
        Map<Object, List<Letter<?>>> rows = new LinkedHashMap<>();
        for (Letter<?> letter : letters) {
            Object order = letter.order();
            rows.computeIfAbsent(order == null ? letter : order, row -> new ArrayList<>())
                    .add(letter);
        }
        Round round = new Round(new ConcurrentHashMap<>(), new ConcurrentLinkedQueue<>());
        List<Future<?>> running = new ArrayList<>();
        rows.values().forEach(row -> running.add(threads.submit(() -> applyRow(row, round))));
        running.forEach(LeasedApplication::await);
        Map<Letter<?>, Applied> applied = round.applied;
        StoreException trouble = round.trouble.peek();
        if (trouble != null) {
            if (applied.values().stream().allMatch(Applied.Held.class::isInstance)) {
                // Nobody got an answer: all wait, with growing pauses.
                throw trouble;
            }
            log.warn("The store did not answer for {} messages; they are tried again", round.trouble.size(), trouble);
        }
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

    private void applyRow(List<Letter<?>> row, Round round) {
        boolean held = false;
        for (Letter<?> letter : row) {
            Applied answer = held ? new Applied.Held() : applyOne(letter, round);
            held = held || answer instanceof Applied.Failed || answer instanceof Applied.Held;
            round.applied.put(letter, answer);
        }
    }

    private Applied applyOne(Letter<?> letter, Round round) {
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
        } catch (EntryUnreadable e) {
            // Its own trouble: the store has answered.
            return new Applied.Failed(e);
        } catch (StoreException e) {
            round.trouble.add(e);
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
            return new Applied.Failed(new PoisonMessage(
                    DeadLetterReason.OUTCOME_UNKNOWN,
                    "whether its effect happened is unknown: see the entry of " + key,
                    null));
        }
        return Applied.of(outcome);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
