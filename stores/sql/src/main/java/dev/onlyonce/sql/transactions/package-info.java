/** The transactional way to execute: claim, effect and result commit in one transaction. */
@NullMarked
package dev.onlyonce.sql.transactions;

import org.jspecify.annotations.NullMarked;
