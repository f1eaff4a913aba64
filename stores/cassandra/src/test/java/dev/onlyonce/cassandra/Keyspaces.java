package dev.onlyonce.cassandra;

import dev.onlyonce.testservers.CassandraCluster;

/** Keyspaces of several classes: two that create one at the same time get in each other's way. */
final class Keyspaces {
    private static boolean created;

    private Keyspaces() {}

    /** The URL of the one that most classes use. */
    static synchronized String transactions() {
        String url = CassandraCluster.shared().url("transactions");
        if (!created) {
            CassandraStore.open(url).close();
            created = true;
        }
        return url;
    }
}
