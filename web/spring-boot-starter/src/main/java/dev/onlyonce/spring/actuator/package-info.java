/** Endpoint, health and meters. Not for applications. */
@NullMarked
package dev.onlyonce.spring.actuator;

import org.jspecify.annotations.NullMarked;
