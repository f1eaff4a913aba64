package dev.onlyonce.messages.adapter;

import dev.onlyonce.sql.inbox.Applied;
import java.time.Duration;
import java.util.List;

/** Applies messages in one of the ways. */
public interface Application {
    /** The longest time that a handler may take for a message. */
    Duration handlerMax();

    /** How many threads may apply messages of one topic at once. */
    int concurrency();

    /**
     * Which messages are applied by one thread: those with an equal {@link PendingMessage#order} in the order of the list.
     *
     * @param due of one topic
     */
    <R> List<Group<R>> split(List<PendingMessage<R>> due);

    /**
     * Messages for one thread.
     *
     * @param isBatch whether these are the batch of their topic; of those only one is applied at a time
     */
    record Group<R>(List<PendingMessage<R>> messages, boolean isBatch) {}

    /**
     * Applies those that were not applied before, and answers for them. Messages without an answer are tried again.
     *
     * @throws RuntimeException if the store cannot answer: those without an answer are tried again, and it is nobody's failure
     */
    void apply(HandlerRun run);

    /** The answer for a message whose handler did not return, not even when it was interrupted. */
    Applied abandoned(String why);
}
