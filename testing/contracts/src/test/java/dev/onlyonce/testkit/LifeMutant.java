package dev.onlyonce.testkit;

import dev.onlyonce.store.Life;
import dev.onlyonce.store.MemoryStore;
import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;
import java.util.Set;
import java.util.stream.Stream;

/** The store in memory with one rule of {@link Life} broken. */
final class LifeMutant implements Mutant {
    private static final RuleBook BOOK = RuleBook.of(Life.class);

    /** Nothing in memory is half done: {@code LifeTest} and the contracts of steps and of the outbox look at this rule. */
    private static final Set<String> SAME = Set.of(
            "ended: halfDone -> false",
            "ended: to == State.RETRYABLE -> true",
            "ended: to == State.RETRYABLE -> false",
            "ended: kept -> false");

    private final SourceChange change;
    private final ClassLoader classes;

    private LifeMutant(SourceChange change) {
        this.change = change;
        this.classes = change.classes(MemoryStore.class.getPackageName() + ".(Memory|TableStore).*");
    }

    /** Each condition always true and never true, each list of records empty, and each {@link LifeValue}. */
    static Stream<Mutant> all() {
        return Stream.concat(BOOK.changes(), Stream.of(LifeValue.values()).map(value -> value.in(BOOK)))
                .filter(change -> !SAME.contains(change.toString()))
                .map(LifeMutant::new);
    }

    @Override
    public Store on(Time time) {
        try {
            return (Store) classes.loadClass(MemoryStore.class.getName())
                    .getConstructor(Time.class)
                    .newInstance(time);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot open a store with " + change, e);
        }
    }

    @Override
    public String toString() {
        return "Life with " + change;
    }
}
