package dev.onlyonce.testkit;

import java.util.List;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** A call of a store with a list, of which a part can be done. Each item is atomic; the list is not. */
record ItemsCall<Q, A>(List<Q> asked, Function<List<Q>, List<A>> call) implements Supplier<List<A>> {

    @Override
    public List<A> get() {
        return call.apply(asked);
    }

    /** The call for the items at these positions only. */
    ItemsCall<Q, A> only(IntPredicate positions) {
        List<Q> part = IntStream.range(0, asked.size())
                .filter(positions)
                .mapToObj(asked::get)
                .toList();
        return new ItemsCall<>(part, call);
    }
}
