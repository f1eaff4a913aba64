/**
 * The API for applications, with {@link dev.onlyonce.Onlyonce} as the entry point, and the engine as package-private classes.
 * {@link dev.onlyonce.Registry} is for code that offers a way of its own to execute.
 */
@NullMarked
package dev.onlyonce;

import org.jspecify.annotations.NullMarked;
