package dev.onlyonce;

import dev.onlyonce.store.Store;
import dev.onlyonce.store.Time;

/**
 * The things that all parts of a node share.
 *
 * @param name the node's name, for entries and the audit
 */
record Parts(String name, Store store, Time time, Events events) {}
