package dev.onlyonce.dynamodb;

/** The names of an item's attributes: short, since their length is stored and paid for with every item. Format 1. */
final class Attribute {
    /** The table's key: a hash of the id, whose own length may be beyond what a key can have. */
    static final String PK = "pk";

    static final String FORMAT = "f";
    static final String TENANT = "t";
    static final String SCOPE = "sc";
    static final String KEY = "k";
    static final String OPERATION = "o";
    static final String FINGERPRINT = "fp";
    /** What the request was made for, for operators; absent if nothing said it. */
    static final String TARGET = "tg";

    /** The state's code; 0 where only the audit of a key is left. */
    static final String STATE = "s";

    static final String TOKEN = "tk";
    static final String OWNER = "ow";
    static final String ATTEMPT = "n";

    static final String LEASE = "ls";
    static final String ON_LEASE_LOST = "ol";
    static final String RETENTION = "rt";
    static final String TOMBSTONE = "tb";
    /** Retention and tombstone in whole seconds: expressions can add, but not divide. */
    static final String KEPT_SECONDS = "ks";

    static final String CREATED = "ca";
    static final String LEASE_UNTIL = "la";
    static final String SETTLED = "sa";
    static final String EXPIRES = "ea";
    static final String RESULT = "r";

    /** The last claim's audit record: its state before, its state after, its time. Absent when it is in the log. */
    static final String CLAIMED_FROM = "cf";

    static final String CLAIMED_TO = "cs";
    static final String CLAIMED_AT = "ct";
    /** The last settlement's audit record, at {@link #SETTLED}: state before and after, who unless the owner, why. */
    static final String SETTLED_FROM = "sf";

    static final String SETTLED_TO = "st";
    static final String SETTLED_BY = "sw";
    static final String SETTLED_WHY = "wy";
    /** The audit records before these, and how many there ever were. */
    static final String LOG = "lg";

    static final String LOGGED = "lc";

    /** Random, and another one after every change: what a conditional write compares. */
    static final String REVISION = "rv";

    /** The index's keys: kind of work with shard, and when it is due. */
    static final String DUE_KIND = "dk";

    static final String DUE_AT = "da";
    /** Native TTL, in seconds. */
    static final String TTL = "xt";

    private Attribute() {}
}
