package dev.onlyonce.store;

/**
 * What a shared cache has done on this node so far.
 *
 * @param well whether it answered the last call
 * @param replayed requests answered with a cached answer
 * @param shed requests answered as in progress, from a mark of the running claim
 * @param missed requests that went to the store, because the cache had nothing fresh
 * @param failed requests that went to the store, because the cache did not answer in time
 * @param refused cached values that were not sealed with our key, or not for this entry
 */
public record CacheCounts(boolean well, long replayed, long shed, long missed, long failed, long refused) {}
