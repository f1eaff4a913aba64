/**
 * Connections and their errors: where a connection comes from, how work runs on it, and what an {@link java.sql.SQLException}
 * means.
 */
@NullMarked
package dev.onlyonce.sql.internal.connections;

import org.jspecify.annotations.NullMarked;
