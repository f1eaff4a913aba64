package dev.onlyonce.messages.adapter;

import dev.onlyonce.sql.inbox.Applied;
import java.util.List;

/** Applies messages in one of the ways. */
public interface Application extends AutoCloseable {
    /**
     * Applies those that were not applied before; letters with an equal {@link Letter#order} in the order of the list.
     *
     * @return what became of each, in the same order
     * @throws RuntimeException if the store cannot answer: all are tried again, and it is nobody's failure
     */
    List<Applied> apply(List<? extends Letter<?>> letters);

    @Override
    default void close() {}
}
