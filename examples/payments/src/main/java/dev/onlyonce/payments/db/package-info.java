/** The database: pools, dialects, and statements in a transaction. */
@NullMarked
package dev.onlyonce.payments.db;

import org.jspecify.annotations.NullMarked;
