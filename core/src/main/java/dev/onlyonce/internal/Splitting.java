package dev.onlyonce.internal;

import dev.onlyonce.store.StoreBusy;
import dev.onlyonce.store.StoreOutcomeUnknown;
import dev.onlyonce.store.StoreUnavailable;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Protects rows from a bad neighbour: a batch that the store refuses goes again in parts, down to the bad row.
 */
public final class Splitting {
    private Splitting() {}

    /**
     * Sends a batch.
     *
     * @param answered receives each row that the store answered
     * @param failed receives each row that the store refused on its own
     * @throws StoreUnavailable if the store can take nothing now; rows before this may have been answered
     * @throws StoreOutcomeUnknown if the store did not answer; rows before this may have been answered
     */
    public static <Q, R> void send(
            List<Q> batch,
            Function<List<Q>, List<R>> call,
            BiConsumer<Q, R> answered,
            BiConsumer<Q, Throwable> failed) {
        List<R> results;
        try {
            results = ask(batch, call);
        } catch (StoreUnavailable | StoreOutcomeUnknown e) {
            throw e;
        } catch (RuntimeException | Error e) {
            if (batch.size() == 1) {
                failed.accept(batch.get(0), e);
            } else {
                parts(batch, e).forEach(part -> send(part, call, answered, failed));
            }
            return;
        }
        for (int i = 0; i < batch.size(); i++) {
            answered.accept(batch.get(i), results.get(i));
        }
    }

    /** Makes the call; it must answer every row. */
    static <Q, R> List<R> ask(List<Q> batch, Function<List<Q>, List<R>> call) {
        List<R> results = call.apply(batch);
        if (results.size() != batch.size()) {
            throw new IllegalStateException(
                    "The store gave " + results.size() + " answers to " + batch.size() + " questions");
        }
        return results;
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
