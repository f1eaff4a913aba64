package dev.onlyonce.store;

/**
 * The limits of a store. The engine checks its configuration against them when it is built.
 *
 * @param resultBytesMax the largest result that it holds
 * @param transactional whether an entry can commit together with the business data, in the caller's SQL transaction
 * @param ownTransactions whether its module executes the transactional way by itself, with business data in the same store
 */
public record StoreLimits(int resultBytesMax, boolean transactional, boolean ownTransactions) {
    /** Everything that can be configured. */
    public static final StoreLimits NONE = new StoreLimits(Integer.MAX_VALUE, true);

    /** Without transactions of its own. */
    public StoreLimits(int resultBytesMax, boolean transactional) {
        this(resultBytesMax, transactional, false);
    }
}
