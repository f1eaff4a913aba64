/** Operations in the application's transactions. Not for applications. */
@NullMarked
package dev.onlyonce.spring.transactions;

import org.jspecify.annotations.NullMarked;
