package dev.onlyonce.cassandra;

/** The clock by which leases and retention are judged. */
interface Clock {
    /** In microseconds since 1970. */
    long now();

    /** By how much another node of ours may read it differently at the same time, in microseconds. */
    long error();

    /** By how much the clocks differ that Cassandra judges TTLs by, at least, in microseconds. */
    default long spread() {
        return 0;
    }
}
