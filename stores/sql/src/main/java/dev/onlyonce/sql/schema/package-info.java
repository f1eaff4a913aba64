/** The tables: creating, upgrading and checking them. */
@NullMarked
package dev.onlyonce.sql.schema;

import org.jspecify.annotations.NullMarked;
