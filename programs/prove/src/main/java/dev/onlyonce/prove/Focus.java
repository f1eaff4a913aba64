package dev.onlyonce.prove;

/** What the nemesis acts on. A narrow focus finds a certain kind of mistake sooner. */
enum Focus {
    /** Nodes, networks and the store. */
    ALL,
    /** Nodes alone: they are paused all the time, for longer than a lease. */
    PAUSES,
    /** Nodes, and at once the failover of the store that forgets most: the last of its list. */
    FAILOVERS
}
