/** How annotations and settings become operations. Not for applications. */
@NullMarked
package dev.onlyonce.spring.operations;

import org.jspecify.annotations.NullMarked;
