package dev.onlyonce.cassandra;

import dev.onlyonce.cassandra.Cas.Outcome;
import dev.onlyonce.cassandra.Step.Attempt;
import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Applies a rule to a list of items, all at once.
 *
 * <ol>
 *   <li>Guesses what to write for each item, without reading: a claim's key is new, a settlement's claim is one of this node.
 *   <li>Writes the index rows of all guesses together and waits for them.
 *   <li>Sends the transactions of all guesses at once. A fresh operation ends here: one transaction for its claim, one for its settlement.
 *   <li>Gives every item that was refused, in doubt, or not guessed to the {@link ContendedChange}.
 * </ol>
 *
 * <p>An item that fails costs the others nothing: if it was not changed, its answer is busy or unavailable. That holds for a single item too
 * if only its replicas are missing. The call as a whole fails only if the cluster cannot be used, because callers then leave the store alone
 * for a moment.
 */
final class Items {
    private final ContendedChange contended;
    private final Executor threads;

    Items(ContendedChange contended, Executor threads) {
        this.contended = contended;
        this.threads = threads;
    }

    /** What became of an item: an answer, or a failure. */
    record Result<A>(Optional<A> answer, @Nullable StoreException failure) {
        static <A> Result<A> of(A answer) {
            return new Result<>(Optional.of(answer), null);
        }

        static <A> Result<A> failed(StoreException failure) {
            return new Result<>(Optional.empty(), failure);
        }
    }

    /** An item on its way. */
    private static final class Progress<Q, A> {
        final Q item;

        @Nullable
        Attempt<A> guess;

        @Nullable
        CompletableFuture<Outcome> sent;

        @Nullable
        Outcome outcome;

        Progress(Q item) {
            this.item = item;
        }
    }

    /** Answers in the order of the items. */
    <Q, A> List<A> run(EntryRule<Q, A> rule, List<Q> items) {
        return answers(rule, results(rule, items));
    }

    /** The same, with the failures beside the answers. */
    <Q, A> List<Result<A>> results(EntryRule<Q, A> rule, List<Q> items) {
        Moment moment = contended.moment();
        List<Progress<Q, A>> all = new ArrayList<>();
        try {
            for (Q item : items) {
                Progress<Q, A> progress = new Progress<>(item);
                Optional<Attempt<A>> guess = rule.guess(item, moment);
                if (guess.isPresent() && contended.locks().tryTake(rule.id(item))) {
                    progress.guess = guess.get();
                }
                all.add(progress);
            }
            sendGuesses(all, moment);
        } finally {
            all.stream()
                    .filter(each -> each.guess != null)
                    .forEach(each -> contended.locks().release(rule.id(each.item)));
        }
        return finish(rule, all, moment.nanos());
    }

    private <Q, A> void sendGuesses(List<Progress<Q, A>> all, Moment moment) {
        List<IndexRow> before = new ArrayList<>();
        for (Progress<Q, A> each : all) {
            if (each.guess != null) {
                before.addAll(each.guess.change().index().before());
            }
        }
        if (before.isEmpty()) {
            return;
        }
        try {
            contended.prepare(before, moment);
        } catch (StoreException e) {
            // Nothing was changed: without its index rows no transaction is sent.
            all.forEach(each -> each.outcome = each.guess == null ? null : new Outcome.Failed(e));
            return;
        }
        for (Progress<Q, A> each : all) {
            if (each.guess != null) {
                each.sent = contended.cas().send(each.guess.change());
            }
        }
        List<IndexRow> over = new ArrayList<>();
        for (Progress<Q, A> each : all) {
            if (each.guess != null && each.sent != null) {
                Change change = each.guess.change();
                each.outcome = each.sent.join();
                if (each.outcome instanceof Outcome.Applied) {
                    contended.claims().changed(change);
                    over.addAll(change.index().after());
                } else if (each.outcome instanceof Outcome.Refused) {
                    over.addAll(change.index().before());
                }
            }
        }
        contended.indexes().drop(over);
    }

    private <Q, A> List<Result<A>> finish(EntryRule<Q, A> rule, List<Progress<Q, A>> all, long since) {
        List<CompletableFuture<Result<A>>> results = new ArrayList<>();
        List<Runnable> rest = new ArrayList<>();
        for (Progress<Q, A> each : all) {
            CompletableFuture<Result<A>> result = new CompletableFuture<>();
            results.add(result);
            Attempt<A> guess = each.guess;
            if (guess != null && each.outcome instanceof Outcome.Applied) {
                result.complete(Result.of(guess.answer()));
            } else if (each.outcome instanceof Outcome.Failed failed
                    && !(failed.failure() instanceof StoreOutcomeUnknown)) {
                result.complete(Result.failed(failed.failure()));
            } else {
                ContendedChange.Sent<A> sent = new ContendedChange.Sent<>(guess, each.outcome);
                rest.add(() -> {
                    try {
                        result.complete(contended.run(rule, each.item, sent, since));
                    } catch (RuntimeException | Error e) {
                        result.completeExceptionally(e);
                    }
                });
            }
        }
        // The last one here: a single item needs no other thread.
        for (int i = 0; i < rest.size(); i++) {
            if (i == rest.size() - 1) {
                rest.get(i).run();
            } else {
                threads.execute(rest.get(i));
            }
        }
        return results.stream().map(CompletableFuture::join).toList();
    }

    private static <Q, A> List<A> answers(EntryRule<Q, A> rule, List<Result<A>> results) {
        List<StoreException> failures = new ArrayList<>();
        for (Result<A> result : results) {
            StoreException failure = result.failure();
            if (failure instanceof StoreOutcomeUnknown) {
                throw failure;
            } else if (failure != null) {
                failures.add(failure);
            }
        }
        for (StoreException failure : failures) {
            boolean isAnswered = rule.refused(failure).isPresent();
            boolean isOwn = failure instanceof StoreBusy || Failures.isOfReplicas(failure);
            if (failures.size() == results.size() && !(isOwn && isAnswered)) {
                throw failure;
            } else if (!isAnswered) {
                throw new StoreOutcomeUnknown("Some items may have been changed. " + failure.getMessage(), failure);
            }
        }
        return results.stream().map(result -> answer(rule, result)).toList();
    }

    private static <Q, A> A answer(EntryRule<Q, A> rule, Result<A> result) {
        StoreException failure = result.failure();
        return (failure == null ? result.answer() : rule.refused(failure)).orElseThrow();
    }
}
