/** The console within an application. Not for applications. */
@NullMarked
package dev.onlyonce.spring.console;

import org.jspecify.annotations.NullMarked;
