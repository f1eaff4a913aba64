/**
 * Connections and their errors: where a connection comes from, how work runs on it, and what an {@link java.sql.SQLException}
 * means. For this module only, except for {@link dev.onlyonce.sql.connections.SqlDatabase}.
 */
@NullMarked
package dev.onlyonce.sql.connections;

import org.jspecify.annotations.NullMarked;
