package dev.onlyonce.sql;

/** What to do about the schema when a store is opened. */
public enum SchemaMode {
    /** Creates or upgrades it where necessary. Several nodes may do so at once. */
    CREATE,
    /** Changes nothing and fails if it is not the version that this release works with. */
    VALIDATE,
    /** Neither changes nor checks it: for tools that look at the schema themselves. */
    LEAVE
}
