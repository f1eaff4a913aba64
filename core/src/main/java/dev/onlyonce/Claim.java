package dev.onlyonce;

/** The right to execute, as the running action sees it. Thread-safe. */
public interface Claim {

    /** The key that was claimed. */
    Key key();

    /**
     * Which attempt this is, from 1. It grows with every claim of the entry, and starts at 1 again after retention or an
     * eviction: it is for logs, and no fence.
     */
    int attempt();

    /**
     * Whether the lease still holds, as far as this node knows: no heartbeat was refused, and the last successful one is
     * not older than the lease. Once it is false, another owner may be running.
     */
    boolean isHeld();

    /** Throws {@link LeaseLost} unless the lease holds; call it before an external effect. */
    default void ensureHeld() {
        if (!isHeld()) {
            throw new LeaseLost("the lease of " + key() + ", attempt " + attempt() + ", is lost");
        }
    }

    /**
     * Runs the callback once when the lease is lost, at once if it is already; never after settling. It runs on a
     * thread for callbacks, which all claims of the node share, and must be quick: interrupt the action, close its connection.
     */
    void onLost(Runnable callback);

    /** The key to send downstream for this step: a pure function of tenant, operation, key and step. */
    default String downstreamKey(String step) {
        return DownstreamKey.of(key(), step);
    }
}
