/** The published metrics, for any Micrometer registry. */
@NullMarked
package dev.onlyonce.micrometer;

import org.jspecify.annotations.NullMarked;
