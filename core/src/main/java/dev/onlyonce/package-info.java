/**
 * What applications type, and the engine behind it, which is package-private. {@link dev.onlyonce.Onlyonce} is where to start.
 */
@NullMarked
package dev.onlyonce;

import org.jspecify.annotations.NullMarked;
