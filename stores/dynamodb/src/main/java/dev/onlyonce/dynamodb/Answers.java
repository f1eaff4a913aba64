package dev.onlyonce.dynamodb;

import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreException;
import dev.onlyonce.store.StoreOutcomeUnknown;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** Waits for requests that were sent in parallel. One that fails costs the others nothing. */
final class Answers {
    private Answers() {}

    /**
     * The answers to writes, in their order.
     *
     * @param refused the answer for an item that was not changed; empty if the verb has none
     * @throws StoreOutcomeUnknown if any of them may or may not have been executed
     * @throws StoreException if none was
     */
    static <A> List<A> ofWrites(List<CompletableFuture<A>> requests, Optional<Function<StoreException, A>> refused) {
        List<A> answers = new ArrayList<>();
        List<StoreException> failures = new ArrayList<>();
        int failed = 0;
        for (CompletableFuture<A> request : requests) {
            try {
                answers.add(request.join());
            } catch (CompletionException e) {
                StoreException failure = ServiceFailure.of(e);
                failures.add(failure);
                failed += failure instanceof StoreBusy && refused.isPresent() ? 0 : 1;
                refused.ifPresent(answer -> answers.add(answer.apply(failure)));
            }
        }
        for (StoreException failure : failures) {
            if (failure instanceof StoreOutcomeUnknown || failed == requests.size()) {
                throw failure;
            } else if (refused.isEmpty()) {
                throw new StoreOutcomeUnknown("Some items may have been changed. " + failure.getMessage(), failure);
            }
        }
        return answers;
    }

    /** The answers to reads, in their order; throws if any of them failed. */
    static <A> List<A> ofReads(List<CompletableFuture<A>> requests) {
        List<A> answers = new ArrayList<>();
        for (CompletableFuture<A> request : requests) {
            answers.add(ofRead(request));
        }
        return answers;
    }

    /** The answer to a read. */
    static <A> A ofRead(CompletableFuture<A> request) {
        try {
            return request.join();
        } catch (CompletionException e) {
            throw ServiceFailure.ofRead(e);
        }
    }
}
