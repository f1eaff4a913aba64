package dev.onlyonce.testkit;

import static java.util.Objects.requireNonNull;

import dev.onlyonce.store.Store;
import java.time.Duration;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.MethodDescriptor;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.MethodOrdererContext;
import org.junit.jupiter.api.TestMethodOrder;

/** The contract on a broken store. Not run by itself: {@link StoreContractTest} says which store and expects failures. */
@TestMethodOrder(MutatedContract.SoonestFirst.class)
final class MutatedContract extends StoreContract {
    static volatile @Nullable Mutant mutant;

    private final ManualTime time = new ManualTime();
    private final Store store = requireNonNull(mutant).on(time);

    @Override
    protected Store open() {
        return store;
    }

    @Override
    protected void advance(Duration span) {
        time.jump(span);
    }

    /** Random histories find most faults, and races cost most: nobody looks further than the first failure. */
    static final class SoonestFirst implements MethodOrderer {
        @Override
        public void orderMethods(MethodOrdererContext context) {
            context.getMethodDescriptors().sort(Comparator.comparingInt(SoonestFirst::turn));
        }

        private static int turn(MethodDescriptor method) {
            Class<?> chapter = method.getMethod().getDeclaringClass();
            return chapter == HistoryChapter.class ? -1 : chapter == RaceChapter.class ? 1 : 0;
        }
    }
}
