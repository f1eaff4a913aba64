package dev.onlyonce.dynamodb;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Waits for reads that were sent in parallel. */
final class Reads {
    private Reads() {}

    /** The answers, in their order; throws if any of them failed. */
    static <A> List<A> all(List<CompletableFuture<A>> requests) {
        List<A> answers = new ArrayList<>();
        for (CompletableFuture<A> request : requests) {
            answers.add(one(request));
        }
        return answers;
    }

    /** The answer to a read. */
    static <A> A one(CompletableFuture<A> request) {
        try {
            return request.join();
        } catch (CompletionException e) {
            throw ServiceFailure.ofRead(e);
        }
    }
}
