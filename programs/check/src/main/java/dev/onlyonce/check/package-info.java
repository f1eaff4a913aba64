/** Checks any HTTP API that claims idempotency keys, from outside. Start at {@link dev.onlyonce.check.Checker}. */
@NullMarked
package dev.onlyonce.check;

import org.jspecify.annotations.NullMarked;
