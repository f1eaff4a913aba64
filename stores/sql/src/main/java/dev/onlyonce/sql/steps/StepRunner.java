package dev.onlyonce.sql.steps;

import dev.onlyonce.Codec;
import dev.onlyonce.LeaseLost;
import dev.onlyonce.NotExecuted;
import dev.onlyonce.sql.transactions.TransactionalAction;

/**
 * The steps of a running flow, called one after the other by the thread that runs it. A step that another thread calls, or that is called
 * inside another step or after the flow's end, is an {@link IllegalStateException} before its effect. A step that an earlier attempt has
 * finished is not run: its recorded result is returned. Names are unique within a flow, and every attempt must come by the
 * same names in the same order; anything else is an {@link IllegalStateException}, and the entry stays resumable.
 *
 * <p>Every step throws {@link LeaseLost} when the claim is not this owner's any more: nothing was recorded, and the flow must
 * end.
 */
public interface StepRunner {

    /**
     * An external effect that must not be repeated. That it was started is durable before it runs, its result when this
     * returns. {@link NotExecuted} from the action proves that nothing happened: the next attempt runs it. Any other
     * exception, or the process's end, makes the operation unknown.
     *
     * @throws X what the action throws
     */
    <R, X extends Exception> R effect(String name, Codec<R> codec, StepAction<R, X> action) throws X;

    /**
     * An external effect at a service that honours the downstream key for longer than the operation is retried: it may be
     * run again with the same key. Its result is durable when this returns.
     *
     * @throws X what the action throws; the next attempt resumes here
     */
    <R, X extends Exception> R repeatable(String name, Codec<R> codec, StepAction<R, X> action) throws X;

    /**
     * Writes to the database: they commit together with the step's result. The transaction may be rolled back and run again.
     *
     * @throws X what the action throws, after a rollback; the next attempt resumes here
     */
    <R, X extends Exception> R local(String name, Codec<R> codec, TransactionalAction<R, X> action) throws X;

    /** Which attempt of the operation this is, from 1. */
    int attempt();
}
