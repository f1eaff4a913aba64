package dev.onlyonce.http;

import java.util.concurrent.Executor;

/**
 * Where a caller that must not block goes on.
 *
 * @param loop runs what follows on an answer of the store; many come at once
 * @param blocking runs what blocks, which is rare: waiting for a store that did not take a record at once, or claiming what
 *     another request has released
 */
public record EventLoop(Executor loop, Executor blocking) {}
