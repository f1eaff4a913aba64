/**
 * Group commit: {@link dev.onlyonce.internal.GroupingStore} sends many callers' requests to the store in one call. For the engine
 * only; it may change at any time.
 */
@NullMarked
package dev.onlyonce.internal;

import org.jspecify.annotations.NullMarked;
