/** Messages that are delivered at least once and applied once. */
@NullMarked
package dev.onlyonce.sql.inbox;

import org.jspecify.annotations.NullMarked;
