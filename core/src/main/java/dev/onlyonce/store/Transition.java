package dev.onlyonce.store;

import org.jspecify.annotations.Nullable;

/**
 * A change of state that happened.
 *
 * @param id which entry
 * @param operation its operation
 * @param from the state before; empty for a new entry
 * @param to the state after; empty for an entry that was evicted, or past everything when its key was used again
 * @param attempt the attempt it concerns
 * @param who made the change: a node, {@code sweeper}, {@code reconciler}, an operator
 * @param why the reason given
 */
public record Transition(
        EntryId id,
        String operation,
        @Nullable State from,
        @Nullable State to,
        int attempt,
        String who,
        String why) {}
