/** The queued way to execute: the transaction writes the call, and a worker makes it later. */
@NullMarked
package dev.onlyonce.sql.outbox;

import org.jspecify.annotations.NullMarked;
