package dev.onlyonce.prove;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Where a round takes place: the servers of a store, a network for each node, and what can happen to them. */
interface Arena extends AutoCloseable {
    /**
     * What an arena is opened for.
     *
     * @param nodes each gets a network of its own
     * @param seed of what chance decides
     * @param folder for files
     */
    record Setting(int nodes, long seed, Path folder) {}

    /** Starts the servers. */
    interface Opening {
        Arena open(Setting setting) throws IOException;
    }

    /** What it is, for the report. */
    String name();

    /** The URL of the store by way of the network of a node. */
    String url(int node);

    /** The URL of the store without a network between. */
    String directUrl();

    /** What may happen; each ends by itself. */
    List<Disaster> disasters();

    /** Ends every fault. */
    void heal();

    /** Whether all four ways can be executed. */
    boolean isSql();

    /** Whether a failover of this store may forget what it has acknowledged. Then that is counted, and is no violation. */
    default boolean mayForget() {
        return false;
    }

    @Override
    void close();

    /**
     * Something that happens.
     *
     * @param weight how often, compared with the others
     * @param once whether it happens once in a round at most
     */
    record Disaster(String name, int weight, boolean once, Run run) {
        Disaster(String name, int weight, Run run) {
            this(name, weight, false, run);
        }

        /** Makes it happen, and returns when it is over. */
        interface Run {
            void run() throws Exception;
        }
    }
}
