package dev.onlyonce.store;

/**
 * The limits of a store. The engine checks its configuration against them when it is built.
 *
 * @param resultBytesMax the largest result that it holds
 * @param transactional whether an entry can commit together with the business data
 */
public record StoreLimits(int resultBytesMax, boolean transactional) {
    /** Everything that can be configured. */
    public static final StoreLimits NONE = new StoreLimits(Integer.MAX_VALUE, true);
}
