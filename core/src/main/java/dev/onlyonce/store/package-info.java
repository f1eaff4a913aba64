/**
 * The interface for authors of stores: {@link dev.onlyonce.store.Store}, the entries and the requests that it takes, the
 * exceptions that it throws, and the encryption of results. {@link dev.onlyonce.store.MemoryStore} is the model.
 */
@NullMarked
package dev.onlyonce.store;

import org.jspecify.annotations.NullMarked;
