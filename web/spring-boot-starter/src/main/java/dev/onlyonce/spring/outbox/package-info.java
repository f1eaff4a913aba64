/** The outbox and its worker. Not for applications. */
@NullMarked
package dev.onlyonce.spring.outbox;

import org.jspecify.annotations.NullMarked;
