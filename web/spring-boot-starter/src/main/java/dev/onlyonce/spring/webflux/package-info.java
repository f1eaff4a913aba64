/** Handlers of Spring WebFlux. Not for applications. */
@NullMarked
package dev.onlyonce.spring.webflux;

import org.jspecify.annotations.NullMarked;
