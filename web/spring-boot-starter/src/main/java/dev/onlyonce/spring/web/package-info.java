/** Handlers of Spring MVC, and what they share with those of WebFlux. Not for applications. */
@NullMarked
package dev.onlyonce.spring.web;

import org.jspecify.annotations.NullMarked;
