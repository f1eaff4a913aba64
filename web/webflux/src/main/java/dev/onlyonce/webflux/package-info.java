/** A {@link dev.onlyonce.webflux.OnlyonceWebFilter} for Spring WebFlux, with or without Spring Boot. */
@NullMarked
package dev.onlyonce.webflux;

import org.jspecify.annotations.NullMarked;
