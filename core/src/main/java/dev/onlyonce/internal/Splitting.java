package dev.onlyonce.internal;

import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.util.List;
import java.util.function.Function;

/**
 * Protects rows from a bad neighbour: a batch that the store refuses goes again in parts, down to the bad row.
 */
public final class Splitting {
    private Splitting() {}

    /** Receives the answer for each row. */
    public interface Answers<Q, R> {
        /** The store answered this row. */
        void answered(Q row, R answer);

        /** The store refused this row on its own. */
        void failed(Q row, Throwable thrown);
    }

    /**
     * Sends a batch.
     *
     * @throws StoreUnavailable if the store can take nothing now; rows before this may have been answered
     * @throws StoreOutcomeUnknown if the store did not answer; rows before this may have been answered
     */
    public static <Q, R> void send(List<Q> batch, Function<List<Q>, List<R>> call, Answers<Q, R> answers) {
        List<R> results;
        try {
            results = call.apply(batch);
            if (results.size() != batch.size()) {
                throw new IllegalStateException(
                        "The store gave " + results.size() + " answers to " + batch.size() + " questions");
            }
        } catch (StoreUnavailable | StoreOutcomeUnknown e) {
            throw e;
        } catch (RuntimeException | Error e) {
            if (batch.size() == 1) {
                answers.failed(batch.get(0), e);
            } else {
                parts(batch, e).forEach(part -> send(part, call, answers));
            }
            return;
        }
        for (int i = 0; i < batch.size(); i++) {
            answers.answered(batch.get(i), results.get(i));
        }
    }

    /**
     * How a refused batch goes on. A busy batch goes row by row at once, because every call with the busy row in it waits
     * for its lock again. Any other refusal costs no waiting, so halves find the bad row in the fewest calls.
     */
    static <Q> List<List<Q>> parts(List<Q> batch, Throwable refusal) {
        if (refusal instanceof StoreBusy) {
            return batch.stream().map(List::of).toList();
        }
        int half = batch.size() / 2;
        return List.of(batch.subList(0, half), batch.subList(half, batch.size()));
    }
}
