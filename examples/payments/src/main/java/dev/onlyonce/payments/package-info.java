/** The program: its commands, the Spring application and how its parts are put together. */
@NullMarked
package dev.onlyonce.payments;

import org.jspecify.annotations.NullMarked;
