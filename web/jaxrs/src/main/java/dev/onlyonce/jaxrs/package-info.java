/** An {@link dev.onlyonce.jaxrs.OnlyonceFeature} for JAX-RS applications: Jersey, RESTEasy and others. */
@NullMarked
package dev.onlyonce.jaxrs;

import org.jspecify.annotations.NullMarked;
